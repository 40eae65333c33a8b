import { describe, expect, it } from 'vitest'
import { summarizeHours, summarizeSlo, type EntryGroup } from '../../../../src/domain/posts/slo.ts'

const BOUND_MS = 1_000

const group = (fields: Partial<EntryGroup> = {}): EntryGroup => ({
  platform: 'bluesky',
  postStatus: 'COMPLETED',
  status: 'completed',
  errorCode: null,
  isRetried: false,
  isPastBound: true,
  latenessMs: 10,
  entries: 1,
  posts: 1,
  ...fields,
})
const deliveries = (...groups: EntryGroup[]) => summarizeSlo(groups, BOUND_MS).deliveries

describe('the service level of deliveries', () => {
  it.each<[string, Partial<EntryGroup>, string]>([
    ['published within the bound', { latenessMs: BOUND_MS }, 'onTime'],
    ['published after the bound', { latenessMs: BOUND_MS + 1 }, 'late'],
    ['published without a known lateness', { latenessMs: null }, 'onTime'],
    ['deleted on the platform', { status: 'deleted' }, 'onTime'],
    ['pending within the bound', { status: 'pending', isPastBound: false, latenessMs: null }, 'open'],
    ['pending past the bound', { status: 'pending', latenessMs: null }, 'overdue'],
    ['processing within the bound', { status: 'processing', isPastBound: false, latenessMs: null }, 'open'],
    ['processing past the bound', { status: 'processing', latenessMs: null }, 'overdue'],
    ['failed by the platform', { status: 'failed', errorCode: 'transient', latenessMs: null }, 'failed'],
    ['failed without a code', { status: 'failed', latenessMs: null }, 'failed'],
    ['failed with an unknown outcome', { status: 'failed', errorCode: 'OUTCOME_UNKNOWN', latenessMs: null }, 'failed'],
    ['sent again by its user', { isRetried: true, latenessMs: BOUND_MS + 1 }, 'retried'],
  ])('an entry that is %s counts as expected', (_state, fields, kind) => {
    const counted = deliveries(group({ ...fields, entries: 3 }))
    const counts = { onTime: 0, late: 0, failed: 0, overdue: 0, open: 0, refused: 0, retried: 0 }
    expect(counted).toMatchObject({ ...counts, total: 3, [kind]: 3 })
    expect(counted.misses).toBe(['late', 'failed', 'overdue'].includes(kind) ? 3 : 0)
  })

  it.each([
    'unauthorized',
    'permission',
    'not_found',
    'validation',
    'duplicate',
    'blocked_by_platform',
    'PLATFORM_NOT_CONNECTED',
    'PLATFORM_NOT_SUPPORTED',
    'ACCOUNT_DISABLED',
    'MEDIA_UNAVAILABLE',
  ] as const)('a failure with %s is refused and no miss', (errorCode) => {
    const failed = group({ status: 'failed', errorCode, latenessMs: null, entries: 2 })
    expect(deliveries(failed)).toMatchObject({ refused: 2, failed: 0, misses: 0, failures: { [errorCode]: 2 } })
  })

  it('failures are counted by code, and without a code as INTERNAL', () => {
    const failed = (errorCode: EntryGroup['errorCode'], entries: number) =>
      group({ status: 'failed', errorCode, latenessMs: null, entries })
    const { failures } = deliveries(failed('transient', 2), failed('transient', 3), failed(null, 1), group())
    expect(failures).toEqual({ transient: 5, INTERNAL: 1 })
  })

  it('misses sum late, failed and overdue entries', () => {
    const { misses, total } = deliveries(
      group({ latenessMs: 2_000 }),
      group({ status: 'failed', errorCode: 'transient', latenessMs: null, entries: 2 }),
      group({ status: 'pending', latenessMs: null, entries: 4 }),
      group({ entries: 8 }),
    )
    expect([misses, total]).toEqual([7, 15])
  })

  it('lateness percentiles are the nearest ranks of the published entries', () => {
    const groups = Array.from({ length: 100 }, (_, index) => group({ latenessMs: 100 - index }))
    expect(deliveries(...groups).lateness).toEqual({ count: 100, p50: 50, p95: 95, p99: 99, max: 100 })
    const two = [group({ latenessMs: 5, entries: 3 }), group({ latenessMs: 9_000 })]
    expect(deliveries(...two).lateness).toEqual({ count: 4, p50: 5, p95: 9_000, p99: 9_000, max: 9_000 })
  })

  it('an entry without a known lateness is on time and not part of the percentiles', () => {
    const unknown = group({ latenessMs: null, entries: 5 })
    const { onTime, lateness } = summarizeSlo([unknown, group({ latenessMs: 0 })], 0).deliveries
    expect([onTime, lateness.count, lateness.max]).toEqual([6, 1, 0])
  })

  it('lateness is null without published entries', () => {
    const open = group({ status: 'pending', isPastBound: false, latenessMs: null })
    expect(deliveries(open).lateness).toEqual({ count: 0, p50: null, p95: null, p99: null, max: null })
  })
})

describe('the service level of posts', () => {
  it('posts are counted by their status, open ones by the bound', () => {
    const post = (postStatus: EntryGroup['postStatus'], posts: number, isPastBound = false) =>
      group({ postStatus, posts, isPastBound, status: 'pending', latenessMs: null })
    const groups = [
      post('COMPLETED', 1),
      post('PARTIAL_SUCCESS', 2),
      post('FAILED', 3),
      post('CANCELLED', 4),
      post('SCHEDULED', 5),
      post('PENDING', 6),
      post('PROCESSING', 7),
      post('SCHEDULED', 10, true),
      post('PENDING', 20, true),
      post('PROCESSING', 30, true),
    ]
    expect(summarizeSlo(groups, BOUND_MS).posts).toEqual({
      scheduled: 88,
      delivered: 1,
      partiallyDelivered: 2,
      failed: 3,
      overdue: 60,
      open: 18,
      cancelled: 4,
    })
  })

  it('deliveries of cancelled posts do not count', () => {
    const { deliveries: counted, platforms } = summarizeSlo([group({ postStatus: 'CANCELLED' })], BOUND_MS)
    expect([counted.total, platforms]).toEqual([0, {}])
  })

  it('each platform with deliveries has its own summary', () => {
    const { platforms } = summarizeSlo(
      [group({ entries: 2 }), group({ platform: 'tumblr', latenessMs: 5_000, entries: 3 })],
      BOUND_MS,
    )
    expect(Object.keys(platforms)).toEqual(['bluesky', 'tumblr'])
    expect(platforms.bluesky).toMatchObject({ total: 2, onTime: 2, late: 0 })
    expect(platforms.tumblr).toMatchObject({ total: 3, onTime: 0, late: 3 })
  })
})

it('each hour has its share of punctual deliveries, also hours without any', () => {
  const at = (time: string) => new Date(`2026-03-01T${time}Z`)
  const groups = [
    { ...group({ entries: 3 }), hour: at('10:00:00') },
    { ...group({ latenessMs: BOUND_MS + 1 }), hour: at('10:00:00') },
    { ...group({ postStatus: 'CANCELLED' }), hour: at('10:00:00') },
    { ...group({ status: 'failed', errorCode: 'unauthorized' }), hour: at('12:00:00') },
  ]
  const window = { since: at('10:00:00'), until: at('12:30:00'), missAfterMs: BOUND_MS }
  expect(summarizeHours(groups, window)).toEqual([
    { hour: at('10:00:00'), onTime: 3, misses: 1, share: 0.75 },
    { hour: at('11:00:00'), onTime: 0, misses: 0, share: null },
    { hour: at('12:00:00'), onTime: 0, misses: 0, share: null },
  ])
})
