import { createHash } from 'node:crypto'
import type { QuotaScope, QuotaSubject } from '../../domain/quotas/limits.ts'
import { PUBLICATION_LIMITS } from '../../domain/quotas/publications.ts'

/**
 * Returns the key of a subject.
 * @param ids identify it; they are hashed, so that stored keys reveal neither a token nor a server
 */
export function toQuotaKey(group: string, scope: QuotaScope, ...ids: string[]): string {
  return `${group}:${scope}:${hashText(ids.join(' '))}`
}

/**
 * Returns the quota of an account's publications.
 * @param ids identify the account on its platform
 */
export function toPublicationQuota(platform: keyof typeof PUBLICATION_LIMITS, ...ids: string[]): QuotaSubject {
  return { key: `${toQuotaKey(platform, 'account', ...ids)}:publications`, limits: PUBLICATION_LIMITS[platform] }
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
