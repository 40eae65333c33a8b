import type { QuotaSubject } from '../../domain/quotas/limits.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import type { Parts } from '../parts.ts'

/** How often a platform is asked about an account, by each process. */
const ASK_EVERY_MS = 10 * MINUTE
const ASK_DEADLINE_MS = 3 * SECOND
const MAX_ASKED_ACCOUNTS = 10_000

/**
 * Asks the platform what is left of an account's publication quota, at most once in ten minutes, and records it: the account's limit may be
 * another one than the documented.
 * @param open returns the account's credentials; null when it is not connected
 * @returns whether the platform has stated it; false when it did not respond in time
 */
export type AskPublicationQuota = (
  subject: QuotaSubject,
  adapter: PlatformAdapter,
  open: (signal: AbortSignal) => Promise<Credentials | null>,
) => Promise<boolean>

export function createAskPublicationQuota({
  publicationLedger,
}: Pick<Parts, 'publicationLedger'>): AskPublicationQuota {
  const asked = new Map<string, { answer: Promise<boolean>; until: number }>()

  async function ask(...[{ key }, adapter, open]: Parameters<AskPublicationQuota>): Promise<boolean> {
    const signal = AbortSignal.timeout(ASK_DEADLINE_MS)
    const account = await open(signal)
    const reports = account ? await adapter.readPublicationQuota!(account, { signal }) : []
    if (reports.length > 0) await publicationLedger.report(key, reports)
    return reports.length > 0
  }

  return function askPublicationQuota(subject, adapter, open) {
    if (!adapter.readPublicationQuota) return Promise.resolve(false)
    const now = performance.now()
    const earlier = asked.get(subject.key)
    if (earlier && earlier.until > now) return earlier.answer
    if (asked.size >= MAX_ASKED_ACCOUNTS) asked.clear()
    const answer = ask(subject, adapter, open).catch(() => false)
    asked.set(subject.key, { answer, until: now + ASK_EVERY_MS })
    return answer
  }
}
