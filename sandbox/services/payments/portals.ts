import type { Clock } from './clock.ts'
import type { PortalRecord } from './records.ts'
import { newId, type State } from './state.ts'

const ENTRY_SECONDS = 300
const VISIT_SECONDS = 3_600

/** Sessions of the page on which customers look after their subscriptions: an address is good for one entry, soon. */
export function createPortals({ state: { portals }, clock }: { state: State; clock: Clock }) {
  const isFresh = (portal: PortalRecord) => portal.expiresAt > clock.now()

  return {
    create(customerId: string, returnUrl: string | null): PortalRecord {
      const id = newId('bps')
      const createdAt = clock.now()
      return portals.set(id, {
        id,
        customerId,
        returnUrl,
        createdAt,
        expiresAt: createdAt + ENTRY_SECONDS,
        visit: null,
      })
    },

    /** Uses the address up. @returns what the browser is known by from now on, or null when the address is not good any more */
    enter(id: string): string | null {
      const portal = portals.get(id)
      if (!portal || portal.visit !== null || !isFresh(portal)) return null
      const visit = newId('visit')
      portals.set(id, { ...portal, visit, expiresAt: clock.now() + VISIT_SECONDS })
      return visit
    },

    visitedAs(visit: string): PortalRecord | null {
      return portals.values().find((portal) => portal.visit === visit && isFresh(portal)) ?? null
    },
  }
}
