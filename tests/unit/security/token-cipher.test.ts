import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SecretUnreadableError, type SecretContext } from '../../../src/domain/shared/secrets.ts'
import { createTokenCipher } from '../../../src/security/token-cipher.ts'

const newKey = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`

const context: SecretContext = { userId: 'a'.repeat(24), platform: 'bluesky', field: 'accessToken', version: 3 }

describe('token cipher', () => {
  const cipher = createTokenCipher(newKey('k1'))

  it('the cipher opens what it sealed, for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (plain) => {
        expect(cipher.open(cipher.seal(plain, context), context)).toBe(plain)
      }),
    )
  })

  it('the cipher writes v1.kid.iv.ct.tag with a 96-bit IV and a 128-bit tag', () => {
    const [format, kid, iv, ciphertext, tag, ...rest] = cipher.seal('secret', context).split('.')
    expect([format, kid, rest]).toEqual(['v1', 'k1', []])
    expect([iv, ciphertext, tag].map((part) => Buffer.from(part!, 'base64url').length)).toEqual([12, 6, 16])
  })

  it('sealing the same text twice gives different bytes', () => {
    const sealed = new Set(Array.from({ length: 100 }, () => cipher.seal('secret', context)))
    expect(sealed.size).toBe(100)
  })

  it('a secret opens only for the user, platform, field and version it was sealed for', () => {
    const sealed = cipher.seal('secret', context)
    const others: SecretContext[] = [
      { ...context, userId: 'b'.repeat(24) },
      { ...context, platform: 'mastodon' },
      { ...context, field: 'refreshToken' },
      { ...context, version: 4 },
    ]
    for (const other of others) expect(() => cipher.open(sealed, other)).toThrow(SecretUnreadableError)
  })

  it('a secret with any changed, added or removed character is rejected', () => {
    const sealed = cipher.seal('some secret', context)
    fc.assert(
      fc.property(
        fc.nat({ max: sealed.length - 1 }),
        fc.constantFrom(...'AZaz09-_.=+/é'),
        fc.nat({ max: 2 }),
        (at, sign, kind) => {
          const changed = sealed.slice(0, at) + (kind === 0 ? '' : sign) + sealed.slice(kind === 1 ? at : at + 1)
          fc.pre(changed !== sealed)
          expect(() => cipher.open(changed, context)).toThrow(SecretUnreadableError)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('arbitrary text is rejected with the same error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => cipher.open(text, context)).toThrow(SecretUnreadableError)
      }),
    )
  })
})

describe('token cipher keys', () => {
  const first = newKey('2025')
  const second = newKey('2026')

  it('the first key encrypts and every key decrypts', () => {
    const before = createTokenCipher(first)
    const after = createTokenCipher(`${second}, ${first}`)
    expect(after.open(before.seal('old', context), context)).toBe('old')
    expect(after.seal('new', context).split('.')[1]).toBe('2026')
  })

  it('a secret sealed with a removed key cannot be opened', () => {
    const sealed = createTokenCipher(first).seal('old', context)
    expect(() => createTokenCipher(second).open(sealed, context)).toThrow(SecretUnreadableError)
  })

  it('a key ring with two keys of one id is rejected', () => {
    const sealed = createTokenCipher(newKey('k')).seal('old', context)
    expect(() => createTokenCipher(newKey('k')).open(sealed, context)).toThrow(SecretUnreadableError)
  })

  const secret = randomBytes(32).toString('base64')
  it.each([
    ['nothing', '', 'at least one key'],
    ['only separators', ' , ,', 'at least one key'],
    ['no key id', secret, 'key 1: must read kid:base64'],
    ['an empty key id', `:${secret}`, 'key 1: the key id'],
    ['a key id with a dot', `a.b:${secret}`, 'key 1: the key id'],
    ['a short key', `k:${randomBytes(16).toString('base64')}`, 'key 1: must be base64 of exactly 32 bytes'],
    ['a long key', `k:${randomBytes(33).toString('base64')}`, 'key 1: must be base64 of exactly 32 bytes'],
    ['not base64', `k:${'!'.repeat(43)}`, 'key 1: must be base64 of exactly 32 bytes'],
    ['a key id given twice', `k:${secret},k:${secret}`, 'key 2: its key id is already taken'],
  ])('the cipher refuses %s, naming the variable and never the value', (_case, keys, reason) => {
    const attempt = () => createTokenCipher(keys)
    expect(attempt).toThrow(reason)
    expect(attempt).toThrow('TOKEN_ENCRYPTION_KEYS')
    expect(attempt).not.toThrow(secret)
  })
})
