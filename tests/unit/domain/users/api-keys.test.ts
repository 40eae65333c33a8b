import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  API_KEY_BYTES,
  API_KEY_PATTERN,
  API_KEY_SCOPES,
  hasScope,
  isApiKey,
  isExpiredKey,
  toApiKey,
  toUsedHour,
} from '../../../../src/domain/users/api-keys.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const parseDigits = (text: string) =>
  [...text].reduce((value, digit) => value * 62n + BigInt(DIGITS.indexOf(digit)), 0n)
const anyBytes = fc.uint8Array({ minLength: API_KEY_BYTES, maxLength: API_KEY_BYTES })
const anyKey = anyBytes.map(toApiKey)

describe('the format of an API key', () => {
  it('every key matches the pattern for secret scanners and has the right checksum', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(key).toMatch(new RegExp(`^${API_KEY_PATTERN}$`))
        expect(isApiKey(key)).toBe(true)
      }),
    )
  })

  it('a key contains its whole random number', () => {
    const largest = new Uint8Array(API_KEY_BYTES).fill(255)
    fc.assert(
      fc.property(anyBytes, (random) => {
        const digits = toApiKey(random).slice('po_live_'.length, -6)
        expect(parseDigits(digits)).toBe(BigInt(`0x${Buffer.from(random).toString('hex')}`))
      }),
      { examples: [[new Uint8Array(API_KEY_BYTES)], [largest]] },
    )
  })

  it('the checksum is the CRC-32 of the characters before it', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(parseDigits(key.slice(-6))).toBe(BigInt(crc32(key.slice(0, -6))))
      }),
    )
  })

  it('every change of a single character is detected', () => {
    const key = toApiKey(randomBytes(API_KEY_BYTES))
    const changed = [...key].flatMap((original, index) =>
      [...DIGITS, '_', '-'].flatMap((digit) =>
        digit === original ? [] : [`${key.slice(0, index)}${digit}${key.slice(index + 1)}`],
      ),
    )
    expect(changed.length).toBeGreaterThan(3_000)
    expect(changed.filter(isApiKey)).toEqual([])
  })

  it('a changed character of any key is detected', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(56), fc.constantFrom(...DIGITS), (key, index, digit) => {
        fc.pre(key[index] !== digit)
        expect(isApiKey(`${key.slice(0, index)}${digit}${key.slice(index + 1)}`)).toBe(false)
      }),
    )
  })

  it('swapped neighbours are detected', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(55), (key, index) => {
        fc.pre(key[index] !== key[index + 1])
        expect(isApiKey(`${key.slice(0, index)}${key[index + 1]}${key[index]}${key.slice(index + 2)}`)).toBe(false)
      }),
    )
  })

  it.each(['', 'po_live_', `po_live_${'0'.repeat(49)}`, ` ${toApiKey(randomBytes(API_KEY_BYTES))}`])(
    'the text %j is no key',
    (text) => expect(isApiKey(text)).toBe(false),
  )
})

describe('scopes', () => {
  it('each scope includes exactly itself and the scopes of the documented table', () => {
    const included = API_KEY_SCOPES.map((scope) => [
      scope,
      API_KEY_SCOPES.filter((needed) => hasScope([scope], needed)),
    ])
    expect(Object.fromEntries(included)).toEqual({
      'posts:read': ['posts:read'],
      'posts:draft': ['posts:read', 'posts:draft'],
      'posts:publish': ['posts:read', 'posts:draft', 'posts:publish'],
      'accounts:read': ['accounts:read'],
      'accounts:write': ['accounts:read', 'accounts:write'],
      'analytics:read': ['analytics:read'],
      'events:read': ['events:read'],
      'captions:generate': ['captions:generate'],
      'notifications:read': ['notifications:read'],
      'notifications:write': ['notifications:read', 'notifications:write'],
      'webhooks:read': ['webhooks:read'],
      'webhooks:write': ['webhooks:read', 'webhooks:write'],
    })
  })

  it('a key without scopes has none', () => {
    expect(API_KEY_SCOPES.filter((scope) => hasScope([], scope))).toEqual([])
  })
})

it('a key expires at its instant', () => {
  const expiresAt = new Date('2027-01-01T00:00:00Z')
  expect(isExpiredKey({ expiresAt }, new Date('2026-12-31T23:59:59.999Z'))).toBe(false)
  expect(isExpiredKey({ expiresAt }, expiresAt)).toBe(true)
  expect(isExpiredKey({ expiresAt: null }, expiresAt)).toBe(false)
})

it('the time of a use is cut to its hour', () => {
  expect(toUsedHour(new Date('2027-01-01T10:59:59.999Z'))).toEqual(new Date('2027-01-01T10:00:00Z'))
})
