import type { Platform } from '../domain/platforms.ts'
import type { TokenCipher } from '../integrations/token-cipher.ts'
import type { Connection, PlatformAdapter } from '../platforms/adapter.ts'
import type { ConnectedAccount, PlatformAccountStore } from '../store/platform-accounts.ts'
import type { PostStore } from '../store/posts.ts'
import { endUnusedSession, openSecretsIfReadable, sealSecrets } from './account-secrets.ts'

export interface StoreConnectionDeps {
  accounts: Pick<PlatformAccountStore, 'connect' | 'findHolder'>
  posts: Pick<PostStore, 'unsettle'>
  cipher: TokenCipher
  platforms: { find(platform: Platform): PlatformAdapter | null }
}

/**
 * Stores what was just proven to be the user's account. A connection the user had before is replaced and its session ended, and posts
 * that were prepared for it are looked at again.
 * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when the account is another user's here; the new session is ended then
 */
export async function storeConnection(
  deps: StoreConnectionDeps,
  userId: string,
  platform: Platform,
  { credentials, profile }: Connection,
): Promise<ConnectedAccount> {
  const { accounts, posts, cipher } = deps
  const { accountId, handle, serviceUrl = null } = credentials
  const { account, replaced } = await accounts
    .connect(userId, platform, (version) => {
      const auth = sealSecrets(cipher, { userId, platform, version }, credentials)
      return { accountId, handle, serviceUrl, profile, auth }
    })
    .catch(async (error: unknown) => {
      await endUnusedSession(deps, platform, { ...credentials, version: 0 })
      throw error
    })
  if (!replaced) return account
  await posts.unsettle(userId)
  const unused = openSecretsIfReadable(cipher, userId, platform, replaced)
  if (unused) await endUnusedSession(deps, platform, unused)
  return account
}
