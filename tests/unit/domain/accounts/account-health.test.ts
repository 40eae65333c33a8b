import { describe, expect, it } from 'vitest'
import { toAccountHealth, type StoredHealth } from '../../../../src/domain/accounts/account-health.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'

const now = new Date('2026-03-01T12:00:00Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)
const active: StoredHealth = { status: 'active', lastError: null, checkedAt: now }

describe('account health', () => {
  it.each([
    ['no end', null, 'active', false],
    ['more than seven days left', inMs(7 * DAY + 1), 'active', false],
    ['seven days left', inMs(7 * DAY), 'expiring', false],
    ['a millisecond left', inMs(1), 'expiring', false],
    ['nothing left', now, 'expired', true],
  ])('a working connection with %s has the right status', (_case, endsAt, status, needsReconnection) => {
    expect(toAccountHealth(active, endsAt, now)).toMatchObject({
      status,
      needsReconnection,
      checkedAt: now,
      expiresAt: endsAt,
    })
  })

  it.each(['expired', 'error'] as const)(
    'a connection with status %s needs reconnection, however much time is left',
    (status) => {
      const health = toAccountHealth({ status, lastError: 'Refused', checkedAt: now }, inMs(90 * DAY), now)
      expect(health).toMatchObject({ status, needsReconnection: true, lastError: 'Refused' })
    },
  )
})
