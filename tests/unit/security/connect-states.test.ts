import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { createConnectStates } from '../../../src/security/connect-states.ts'
import { newId } from '../../../src/store/shared/schema.ts'

const SECRET = 's'.repeat(32)
const states = createConnectStates(SECRET)
const purpose = { platform: 'mastodon', redirectUri: 'https://api.test/api/platform/mastodon/callback' } as const
const userId = newId()
const now = new Date('2026-03-01T12:00:00.700Z')
const inTenMinutes = new Date(now.getTime() + 10 * MINUTE)
const issue = () => states.issue(purpose, userId, inTenMinutes)

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Returns another base64url encoding of the same 256 bits: the last character has two unused bits. */
function encodeDifferently(encoded: string): string {
  const last = ALPHABET.indexOf(encoded.at(-1)!)
  return encoded.slice(0, -1) + ALPHABET[last ^ 1]!
}

describe('connect states', () => {
  it('a state holds the user id, a 128-bit nonce, the expiry in unix seconds, and a MAC over its purpose', () => {
    const { state, nonce } = issue()
    const [user, random, end, mac] = state.split('.')
    expect([user, random, end]).toEqual([userId, nonce, String(Math.floor(inTenMinutes.getTime() / SECOND))])
    expect(Buffer.from(nonce, 'base64url')).toHaveLength(16)
    const parts = [purpose.platform, purpose.redirectUri, userId, nonce, end].join('\n')
    expect(mac).toBe(createHmac('sha256', SECRET).update(parts).digest('base64url'))
    expect(states.read(state, purpose, now)).toEqual({ userId, nonce })
  })

  it('two states are never equal', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => issue().nonce)).size).toBe(1_000)
  })

  it('a state expires at its expiry and not before', () => {
    const { state } = issue()
    const end = Math.floor(inTenMinutes.getTime() / SECOND) * SECOND
    expect(states.read(state, purpose, new Date(end - 1))).not.toBeNull()
    expect(states.read(state, purpose, new Date(end))).toBeNull()
  })

  it.each([
    ['another platform', { ...purpose, platform: 'threads' as const }],
    ['another redirect URI', { ...purpose, redirectUri: `${purpose.redirectUri}/` }],
  ])('a state is rejected for %s', (_, other) => {
    expect(states.read(issue().state, other, now)).toBeNull()
  })

  it('a state is rejected under another key', () => {
    expect(createConnectStates('t'.repeat(32)).read(issue().state, purpose, now)).toBeNull()
  })

  it.each([
    ['the user id', 0, newId()],
    ['the nonce', 1, 'A'.repeat(22)],
    ['the end', 2, String(Math.floor(now.getTime() / SECOND) + 86_400)],
    ['the MAC', 3, 'A'.repeat(43)],
  ])('a state with another value for %s is rejected', (_, index, value) => {
    expect(states.read(issue().state.split('.').with(index, value).join('.'), purpose, now)).toBeNull()
  })

  it.each<[string, (state: string) => string]>([
    ['nothing', () => ''],
    ['the user id alone', () => userId],
    ['no MAC', (state) => state.split('.').slice(0, 3).join('.')],
    ['an empty MAC', (state) => `${state.split('.').slice(0, 3).join('.')}.`],
    ['one part too many', (state) => `${state}.x`],
    ['one character too many', (state) => `${state}A`],
    ['a line break after it', (state) => `${state}\n`],
    ['a blank before it', (state) => ` ${state}`],
    ['another encoding of its MAC', (state) => state.slice(0, -43) + encodeDifferently(state.slice(-43))],
    ['padding', (state) => `${state}=`],
    ['its user id in capitals', (state) => state.replace(userId, userId.toUpperCase())],
    ['an end with a leading zero', (state) => state.replace(/\.(\d{10})\./, '.0$1.')],
    ['an end that is no number', (state) => state.replace(/\.(\d{10})\./, '.1e9.')],
    ['a NUL character', (state) => `${state}\0`],
    ['letters beyond ASCII in its MAC', (state) => `${state.slice(0, -1)}ä`],
    ['a hundred thousand characters', () => 'a.'.repeat(50_000)],
  ])('a state with %s is rejected', (_, change) => {
    expect(states.read(change(issue().state), purpose, now)).toBeNull()
  })
})
