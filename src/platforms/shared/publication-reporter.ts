import { LRUCache } from 'lru-cache'
import type { QuotaSubject } from '../../domain/quotas/limits.ts'
import type { PublicationLedger, PublicationReport } from '../../domain/quotas/publications.ts'
import { MINUTE } from '../../domain/shared/times.ts'

const MAX_REMEMBERED = 20_000

/**
 * Passes on what responses state about the publications of accounts: at most once a minute for an account, unless its limit has
 * changed or nothing is left. Another report follows one that is lost.
 */
export function createPublicationReporter(ledger: PublicationLedger | undefined) {
  const limits = new LRUCache<string, number>({ max: MAX_REMEMBERED, ttl: MINUTE })

  return function report({ key }: QuotaSubject, reports: readonly PublicationReport[]): void {
    const [narrowest] = reports.toSorted((one, other) => one.remaining - other.remaining)
    if (!ledger || !narrowest) return
    if (limits.get(key) === narrowest.limit && narrowest.remaining > 0) return
    limits.set(key, narrowest.limit)
    ledger.report(key, reports).catch(() => limits.delete(key))
  }
}
