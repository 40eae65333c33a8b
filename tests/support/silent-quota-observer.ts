import type { QuotaObserver } from '../../src/platforms/shared/quota-lots.ts'

/** Observes quotas without recording anything. */
export const SILENT_QUOTA_OBSERVER: QuotaObserver = {
  leaseEnded: () => {},
  callRefused: () => {},
  spansLeft: () => {},
  paused: () => {},
}
