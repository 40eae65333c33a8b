import type { Platform } from '../domain/platforms.ts'
import type { TokenCipher } from '../integrations/token-cipher.ts'
import type { PlatformAdapter } from '../platforms/adapter.ts'
import type { PlatformAccountStore } from '../store/platform-accounts.ts'
import type { PostStore } from '../store/posts.ts'
import { endUnusedSession, openSecretsIfReadable } from './account-secrets.ts'

interface DisconnectPlatformDeps {
  accounts: Pick<PlatformAccountStore, 'disconnect' | 'findHolder'>
  posts: Pick<PostStore, 'unsettle'>
  cipher: TokenCipher
  platforms: { find(platform: Platform): PlatformAdapter | null }
}

/** Forgets the connection first, and then ends its session at the platform if that can be had. May be repeated. */
export async function disconnectPlatform(
  deps: DisconnectPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<void> {
  const { accounts, posts, cipher } = deps
  const forgotten = await accounts.disconnect(userId, platform)
  await posts.unsettle(userId)
  const secrets = forgotten && openSecretsIfReadable(cipher, userId, platform, forgotten)
  if (secrets) await endUnusedSession(deps, platform, secrets)
}
