import type { RecordSecretContext, SecretContext } from '../../domain/shared/secrets.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { ConnectAttempt } from '../../store/accounts/connect-attempts.ts'
import type { IdentityAttempt } from '../../store/users/identity-attempts.ts'

export type AttemptContext = SecretContext | RecordSecretContext

export function connectAttemptContext({
  _id,
  userId,
  platform,
}: Pick<ConnectAttempt, '_id' | 'userId' | 'platform'>): AttemptContext {
  return { userId, platform, field: `connectAttempt ${_id}`, version: 0 }
}

export function identityAttemptContext({ _id }: Pick<IdentityAttempt, '_id'>): AttemptContext {
  return { collection: 'loginAttempts', id: _id, field: 'secrets' }
}

/** Seals the secrets; they open only for this attempt. */
export function sealAttemptSecrets(
  cipher: TokenCipher,
  context: AttemptContext,
  secrets: Record<string, string>,
): string {
  return cipher.seal(JSON.stringify(secrets), context)
}

/** @throws SecretUnreadableError */
export function openAttemptSecrets(
  cipher: TokenCipher,
  context: AttemptContext,
  sealed: string,
): Record<string, string> {
  return JSON.parse(cipher.open(sealed, context)) as Record<string, string>
}
