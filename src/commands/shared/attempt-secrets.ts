import type { RecordSecretContext, SecretContext } from '../../domain/shared/secrets.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'

type AttemptContext = SecretContext | RecordSecretContext

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
