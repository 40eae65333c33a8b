import { createHash } from 'node:crypto'
import type { TokenCipher } from '../integrations/token-cipher.ts'
import type { ConnectAttempt } from '../store/connect-attempts.ts'

type Owner = Pick<ConnectAttempt, '_id' | 'userId' | 'platform'>

/** What is stored in the place of what only the callback may bring: a nonce, a cookie, a request token. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Opens again for this attempt only. */
export function sealAttemptSecrets(cipher: TokenCipher, owner: Owner, secrets: Record<string, string>): string {
  return cipher.seal(JSON.stringify(secrets), contextOf(owner))
}

/** @throws SecretUnreadableError */
export function openAttemptSecrets(cipher: TokenCipher, owner: Owner, sealed: string): Record<string, string> {
  return JSON.parse(cipher.open(sealed, contextOf(owner))) as Record<string, string>
}

function contextOf({ _id, userId, platform }: Owner) {
  return { userId, platform, field: `connectAttempt ${_id}`, version: 0 }
}
