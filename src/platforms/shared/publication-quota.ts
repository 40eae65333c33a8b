import { toQuotaKey, type QuotaSubject } from '../../domain/quotas/limits.ts'
import { PUBLICATION_LIMITS } from '../../domain/quotas/publications.ts'
import { hashSubject } from './call-quota.ts'

/**
 * Returns the quota of an account's publications.
 * @param ids identify the account on its platform
 */
export function toPublicationQuota(platform: keyof typeof PUBLICATION_LIMITS, ...ids: string[]): QuotaSubject {
  return {
    key: `${toQuotaKey(platform, 'account', hashSubject(...ids))}:publications`,
    limits: PUBLICATION_LIMITS[platform],
  }
}
