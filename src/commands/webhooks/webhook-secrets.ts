import { randomBytes } from 'node:crypto'
import { SecretUnreadableError, webhookSecret } from '../../domain/shared/secrets.ts'
import { SECRET_BYTES, SECRET_PREFIX, type Webhook } from '../../domain/webhooks/webhooks.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'

/** Creates a signing secret and its stored form. */
export function createWebhookSecret(cipher: TokenCipher, webhookId: string) {
  const secret = `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
  return { secret, sealed: cipher.seal(secret, webhookSecret({ _id: webhookId })) }
}

/** Returns the secrets that sign now, the current one first; null when the current one can no longer be read. */
export function openWebhookSecrets(
  cipher: TokenCipher,
  { _id, sealedSecret, oldSecret }: Pick<Webhook, '_id' | 'sealedSecret' | 'oldSecret'>,
  now: Date,
): string[] | null {
  const open = (sealed: string): string | null => {
    try {
      return cipher.open(sealed, webhookSecret({ _id }))
    } catch (error) {
      if (error instanceof SecretUnreadableError) return null
      throw error
    }
  }
  const current = open(sealedSecret)
  const old = oldSecret !== null && oldSecret.validUntil > now ? open(oldSecret.sealed) : null
  return current === null ? null : [current, ...(old === null ? [] : [old])]
}
