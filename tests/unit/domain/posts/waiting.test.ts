import { expect, it } from 'vitest'
import { countWaiting, type WaitingGroup } from '../../../../src/domain/posts/waiting.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { after, T0 } from '../../../support/posts.ts'

const group = (fields: Partial<WaitingGroup> = {}): WaitingGroup => ({
  hasOutage: false,
  isLeased: false,
  outcome: 'none',
  errorCode: null,
  deliveries: 1,
  oldestDueAt: T0,
  ...fields,
})

it.each<[Partial<WaitingGroup>, string]>([
  [{}, 'NOT_STARTED'],
  [{ isLeased: true, errorCode: 'transient' }, 'SENDING'],
  [{ hasOutage: true, outcome: 'unknown', errorCode: 'transient' }, 'SERVER_UNREACHABLE'],
  [{ outcome: 'unknown', errorCode: 'transient' }, 'RECONCILING'],
  [{ outcome: 'deferred', errorCode: 'rate_limited' }, 'rate_limited'],
  [{ errorCode: 'QUOTA_EXCEEDED' }, 'QUOTA_EXCEEDED'],
])('a delivery with %o waits for the reason %s', (fields, reason) => {
  expect(countWaiting([group(fields)])).toEqual([{ reason, deliveries: 1, oldestDueAt: T0 }])
})

it('groups with one reason are counted together with the earliest due time, and the most frequent reason comes first', () => {
  const counted = countWaiting([
    group({ deliveries: 4 }),
    group({ hasOutage: true, deliveries: 2 }),
    group({ hasOutage: true, outcome: 'unknown', deliveries: 3, oldestDueAt: after(T0, -MINUTE) }),
    group({ hasOutage: true, errorCode: 'transient', deliveries: 1 }),
  ])
  expect(counted).toEqual([
    { reason: 'SERVER_UNREACHABLE', deliveries: 6, oldestDueAt: after(T0, -MINUTE) },
    { reason: 'NOT_STARTED', deliveries: 4, oldestDueAt: T0 },
  ])
})
