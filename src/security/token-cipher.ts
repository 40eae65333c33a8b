import { createCipheriv, createDecipheriv, randomBytes, type KeyObject, createSecretKey } from 'node:crypto'
import { parseList } from '../domain/shared/lists.ts'
import { SecretUnreadableError, type RecordSecretContext, type SecretContext } from '../domain/shared/secrets.ts'

const ALGORITHM = 'aes-256-gcm'
const FORMAT = 'v1'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/_-]{43}=?$/
const BASE64URL = /^[A-Za-z0-9_-]*$/

type Context = SecretContext | RecordSecretContext

/**
 * Encrypts secrets at rest. A sealed secret has the form `v1.kid.iv.ciphertext.tag`.
 *
 * Every key of `keys` opens what it sealed; the first one seals. To rotate, add the new key at the end, deploy it to every
 * process, then move it to the front. Without the key of a secret, what needs it waits. `rewrapSecrets` ends the need for old keys.
 * @param onUnreadable called with the key id of a secret that cannot be opened
 * @param keys the value of TOKEN_ENCRYPTION_KEYS, `kid:base64 of 32 bytes`, several separated by commas
 * @throws Error that names the variable and the position of the wrong key, never its value
 */
export function createTokenCipher(keys: string, onUnreadable: (keyId: string) => void = () => {}) {
  const ring = parseKeys(keys)
  const [sealingEntry] = ring
  if (!sealingEntry) throw new Error('TOKEN_ENCRYPTION_KEYS must hold at least one key, as kid:base64 of 32 bytes')
  const [sealingId, sealingKey] = sealingEntry
  const keysById = new Map(ring)

  function unreadable(keyId: string): SecretUnreadableError {
    onUnreadable(KEY_ID.test(keyId) ? keyId : 'unknown')
    return new SecretUnreadableError()
  }

  return {
    /** The id of the key that seals. */
    sealingKeyId: sealingId,

    /** Returns whether there is a key with this id. */
    hasKey: (keyId: string): boolean => keysById.has(keyId),

    // guard: seal
    seal(plain: string, context: Context): string {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, sealingKey, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(additionalData(context))
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return [
        FORMAT,
        sealingId,
        ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url')),
      ].join('.')
    },

    // guard: open
    /** @throws SecretUnreadableError when the key is unknown, the text was changed, or it was sealed for another context */
    open(sealed: string, context: Context): string {
      const [format, kid = '', ...encoded] = sealed.split('.')
      const key = keysById.get(kid)
      const [iv, ciphertext, tag] = encoded.map(decode)
      const wellFormed =
        format === FORMAT && encoded.length === 3 && iv?.length === IV_BYTES && tag?.length === TAG_BYTES
      if (!key || !ciphertext || !wellFormed) throw unreadable(kid)
      try {
        const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(additionalData(context))
        decipher.setAuthTag(tag)
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
      } catch {
        throw unreadable(kid)
      }
    },
  }
}

export type TokenCipher = ReturnType<typeof createTokenCipher>

/** Four parts for a platform's secret and three for a record's, so that one never passes for the other. */
function additionalData(context: Context): Buffer {
  const parts =
    'platform' in context
      ? [context.userId, context.platform, context.field, context.version]
      : [context.collection, context.id, context.field]
  return Buffer.from(parts.join('|'), 'utf8')
}

/** Decodes base64url strictly, because Node's decoder skips unknown characters and would accept a changed text. */
function decode(part: string): Buffer | null {
  if (!BASE64URL.test(part)) return null
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : null
}

function parseKeys(keys: string): [kid: string, key: KeyObject][] {
  const ring = parseList(keys).map(parseKey)
  const ids = ring.map(([kid]) => kid)
  const repeated = ids.findIndex((kid, index) => ids.indexOf(kid) < index)
  if (repeated >= 0) throw new Error(`TOKEN_ENCRYPTION_KEYS, key ${repeated + 1}: its key id is already taken`)
  return ring
}

function parseKey(entry: string, index: number): [kid: string, key: KeyObject] {
  const where = `TOKEN_ENCRYPTION_KEYS, key ${index + 1}:`
  const colon = entry.indexOf(':')
  if (colon < 0) throw new Error(`${where} must read kid:base64`)
  const kid = entry.slice(0, colon)
  const encoded = entry.slice(colon + 1)
  if (!KEY_ID.test(kid)) throw new Error(`${where} the key id must be 1 to 32 letters, digits, - or _`)
  const bytes = Buffer.from(encoded, 'base64')
  if (!BASE64_OF_32_BYTES.test(encoded) || bytes.length !== KEY_BYTES) {
    throw new Error(`${where} must be base64 of exactly ${KEY_BYTES} bytes`)
  }
  return [kid, createSecretKey(bytes)]
}
