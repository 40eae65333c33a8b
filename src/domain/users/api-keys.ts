import { ServiceError } from '../shared/service-error.ts'
import { HOUR } from '../shared/times.ts'

/** The rights that a key can have. A route belongs to exactly one of them, or refuses keys. */
export const API_KEY_SCOPES = [
  'posts:read',
  'posts:draft',
  'posts:publish',
  'accounts:read',
  'accounts:write',
  'analytics:read',
  'events:read',
  'captions:generate',
  'notifications:read',
  'notifications:write',
  'webhooks:read',
  'webhooks:write',
] as const
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number]

/** The scope with which an API key may use a route; `any` accepts every key, and `refused` none. */
export type RouteScope = ApiKeyScope | 'any' | 'refused'

/** The scopes that a scope includes. A client that may change records may also read them. */
const INCLUDED_SCOPES: Partial<Record<ApiKeyScope, readonly ApiKeyScope[]>> = {
  'posts:draft': ['posts:read'],
  'posts:publish': ['posts:draft', 'posts:read'],
  'accounts:write': ['accounts:read'],
  'notifications:write': ['notifications:read'],
  'webhooks:write': ['webhooks:read'],
}

export const MAX_API_KEYS = 20

/** A key as stored. The key itself is not stored. */
export interface ApiKey {
  /** SHA-256 of the key. */
  _id: string
  /** The public id. */
  keyId: string
  userId: string
  name: string
  scopes: ApiKeyScope[]
  /** The last characters of the key, by which its owner recognises it. */
  lastCharacters: string
  createdAt: Date
  /** Null for a key that does not expire. */
  expiresAt: Date | null
  /** The hour in which the key was last used; null before the first use. */
  lastUsedAt: Date | null
  /** The network of that use: an IPv4 /24 or an IPv6 /48. */
  lastUsedNetwork: string | null
}

export function hasScope(granted: readonly ApiKeyScope[], needed: ApiKeyScope): boolean {
  return granted.some((scope) => scope === needed || INCLUDED_SCOPES[scope]?.includes(needed))
}

/** Returns the granted scopes and those that they include. */
export function listEffectiveScopes(granted: readonly ApiKeyScope[]): ApiKeyScope[] {
  return API_KEY_SCOPES.filter((scope) => hasScope(granted, scope))
}

export function insufficientScope(scope: ApiKeyScope): ServiceError {
  const message = `The API key lacks the scope ${scope}. Use a key that has it.`
  return new ServiceError('INSUFFICIENT_SCOPE', message, { details: { scope } })
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const API_KEY_PREFIX = 'po_live_'
/** The random number of a key has 256 bits, for which 43 digits in base 62 suffice. */
export const API_KEY_BYTES = 32
const SECRET_DIGITS = 43
/** Fits every CRC-32. */
const CHECKSUM_DIGITS = 6
const HINT_LENGTH = 4

/** Matches every key, for secret scanners. The checksum then excludes texts that only resemble a key. */
export const API_KEY_PATTERN = `${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}`
const WHOLE_KEY = new RegExp(`^${API_KEY_PATTERN}$`)

/**
 * Returns the key with this random number: a prefix, the number in base 62, and the CRC-32 of both in base 62. The checksum proves
 * nothing; it lets a scanner recognise a leaked key without asking the service.
 * @param random `API_KEY_BYTES` bytes
 */
export function toApiKey(random: Uint8Array): string {
  const number = random.reduce((value, byte) => value * 256n + BigInt(byte), 0n)
  const unchecked = `${API_KEY_PREFIX}${toDigits(number, SECRET_DIGITS)}`
  return `${unchecked}${toChecksum(unchecked)}`
}

/** Returns true for a text with the form of a key and the right checksum, whether or not such a key exists. */
export function isApiKey(text: string): boolean {
  return WHOLE_KEY.test(text) && text.endsWith(toChecksum(text.slice(0, -CHECKSUM_DIGITS)))
}

export function toLastCharacters(key: string): string {
  return key.slice(-HINT_LENGTH)
}

function toChecksum(text: string): string {
  return toDigits(BigInt(crc32(text)), CHECKSUM_DIGITS)
}

function toDigits(number: bigint, count: number): string {
  let [digits, rest] = ['', number]
  for (let index = 0; index < count; index += 1) {
    digits = `${DIGITS[Number(rest % 62n)]}${digits}`
    rest /= 62n
  }
  return digits
}

/** Returns the CRC-32 of an ASCII text, as in gzip (RFC 1952). */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** Returns true when the key no longer authenticates. The database removes expired keys up to a minute later. */
export function isExpiredKey({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** Returns the hour of a use. A use in an hour that is already stored is not stored again. */
export function toUsedHour(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR) * HOUR)
}
