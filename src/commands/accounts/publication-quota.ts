import type { QuotaSubject } from '../../domain/quotas/limits.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'

/** Returns the quota of an account's publications; null where no limit is known. */
export function findPublicationQuota(
  { platforms }: { platforms: PlatformRegistry },
  { platform, platformId, server }: Pick<ConnectedAccount, 'platform' | 'platformId' | 'server'>,
): QuotaSubject | null {
  const account = { accountId: platformId, ...(server !== null && { serviceUrl: server }) }
  return platforms.find(platform)?.publicationQuota?.(account) ?? null
}
