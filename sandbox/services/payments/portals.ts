import type { Clock } from './clock.ts'
import type { PortalRecord } from './records.ts'
import { newId, type State } from './state.ts'

const ENTRY_SECONDS = 300
const VISIT_SECONDS = 3_600

/** Creates portal sessions. Each URL can be entered once and soon. */
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

    /**
     * Enters the portal and invalidates its URL. @returns the browser's token, or `null` when the URL is no longer
     * valid
     */
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
