import type { Platform } from '../../domain/shared/platforms.ts'
import { accountSecret, SecretUnreadableError, type SecretContext } from '../../domain/shared/secrets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import type { ConnectedAccount, SealedAuth } from '../../store/accounts/accounts.ts'
import type { Parts } from '../parts.ts'

const REVOKE_TIMEOUT_MS = 5 * SECOND

type Owner = Omit<SecretContext, 'field'>

/** Seals the secrets of an account. They open only at the version they were sealed for. */
export function sealSecrets(cipher: TokenCipher, owner: Owner, secrets: Omit<Credentials, 'version'>): SealedAuth {
  const { accessToken, tokenSecret, refreshToken, expiresAt = null, endsAt = null } = secrets
  return {
    accessToken: cipher.seal(accessToken, accountSecret('accessToken')(owner)),
    ...(tokenSecret !== undefined && { tokenSecret: cipher.seal(tokenSecret, accountSecret('tokenSecret')(owner)) }),
    refreshToken: refreshToken === undefined ? null : cipher.seal(refreshToken, accountSecret('refreshToken')(owner)),
    expiresAt,
    endsAt,
  }
}

/** @throws SecretUnreadableError */
export function openSecrets(
  cipher: TokenCipher,
  { userId, platform, platformId: accountId, handle, server, version, auth }: ConnectedAccount,
): Credentials {
  const owner = { userId, platform, version }
  const { accessToken, tokenSecret, refreshToken, expiresAt, endsAt } = auth
  return {
    userId,
    accountId,
    handle,
    version,
    accessToken: cipher.open(accessToken, accountSecret('accessToken')(owner)),
    ...(tokenSecret !== undefined && { tokenSecret: cipher.open(tokenSecret, accountSecret('tokenSecret')(owner)) }),
    ...(refreshToken !== null && { refreshToken: cipher.open(refreshToken, accountSecret('refreshToken')(owner)) }),
    ...(server !== null && { serviceUrl: server }),
    ...(expiresAt && { expiresAt }),
    ...(endsAt && { endsAt }),
  }
}

/** Opens secrets that are needed only to end their session; null when they cannot be opened. */
export function openSecretsIfReadable(...args: Parameters<typeof openSecrets>): Credentials | null {
  try {
    return openSecrets(...args)
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null
    throw error
  }
}

/**
 * Ends an unused session at the platform, where it supports that. Errors are ignored, because the secrets are already removed
 * here.
 * @returns whether the session was ended
 */
export async function endSession(adapter: PlatformAdapter | null, credentials: Credentials): Promise<boolean> {
  if (!adapter?.revoke) return false
  try {
    await adapter.revoke(credentials, { signal: AbortSignal.timeout(REVOKE_TIMEOUT_MS) })
    return true
  } catch {
    return false
  }
}

/**
 * Ends a session unless a stored connection uses the same tokens. A platform may issue one token per account for every request
 * (Mastodon does). If this cannot be determined, the session expires by itself.
 */
export async function endUnusedSession(
  { accounts, cipher, platforms }: Parts,
  platform: Platform,
  credentials: Credentials,
): Promise<void> {
  try {
    for (const holder of await accounts.findHolders(platform, credentials.accountId)) {
      const held = openSecrets(cipher, holder)
      // Two Bluesky sessions created within one second can have equal access tokens, but never equal refresh tokens.
      const { accessToken, refreshToken } = credentials
      if (held.accessToken === accessToken && held.refreshToken === refreshToken) return
    }
  } catch {
    return
  }
  await endSession(platforms.find(platform), credentials)
}
