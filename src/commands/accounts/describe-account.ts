import type { PlatformStatus } from '../../domain/posts/post.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Credentials } from '../../platforms/contract.ts'
import { toAccountId } from '../../store/accounts/account-id.ts'

/** The fields of an entry that name the account that it is published with. */
export function describeAccount(
  userId: string,
  platform: Platform,
  { accountId, handle, serviceUrl }: Credentials,
): Pick<PlatformStatus, 'accountName' | 'server'> & { accountId: string } {
  const server = serviceUrl ?? null
  return {
    accountId: toAccountId(userId, { platform, platformId: accountId, server }),
    accountName: handle,
    ...(server !== null && { server }),
  }
}
