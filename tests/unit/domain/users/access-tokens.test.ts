import { describe, expect, it } from 'vitest'
import { parseAccessPayload } from '../../../../src/domain/users/access-tokens.ts'

const PAYLOAD = { sub: 'user-1', role: 'user', sid: 'session-1', ver: 3, jti: 'token-1', exp: 1_800_000_000 }

describe('parseAccessPayload', () => {
  it.each(['user', 'admin'])('parseAccessPayload reads all claims of a payload with the role %s', (role) => {
    expect(parseAccessPayload({ ...PAYLOAD, role })).toEqual({
      userId: 'user-1',
      role,
      sessionId: 'session-1',
      version: 3,
      expiresAt: new Date('2027-01-15T08:00:00.000Z'),
    })
  })

  it.each([
    ['sub', undefined],
    ['sub', 7],
    ['sid', undefined],
    ['sid', 7],
    ['ver', undefined],
    ['ver', '3'],
    ['exp', undefined],
    ['exp', '1800000000'],
    ['role', undefined],
    ['role', 'owner'],
  ])('parseAccessPayload rejects a payload whose %s is %j', (claim, value) => {
    expect(parseAccessPayload({ ...PAYLOAD, [claim]: value })).toBeNull()
  })

  it.each([null, 'token', 7, undefined])('parseAccessPayload rejects %j instead of a payload', (payload) => {
    expect(parseAccessPayload(payload)).toBeNull()
  })
})
