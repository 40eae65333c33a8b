import { describe, expect, it } from 'vitest'
import { createBulkheads } from '../../../../src/activities/shared/call-limiter.ts'
import {
  createDeliver,
  type ActivityIo,
  type DeliverDeps,
} from '../../../../src/activities/publishing/delivery-attempt.ts'
import { systemClock } from '../../../../src/clock.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import type { NewNotification } from '../../../../src/domain/notifications/notifications.ts'
import { EffectTaken, giveUp } from '../../../../src/domain/posts/delivery-moves.ts'
import { updateEntry, needsReconciliation } from '../../../../src/domain/posts/post-entries.ts'
import { retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post, Published } from '../../../../src/domain/posts/post.ts'
import { ServiceError } from '../../../../src/domain/shared/service-error.ts'
import { SECOND } from '../../../../src/domain/shared/times.ts'
import type {
  Credentials,
  DeliveryLog,
  OutgoingPost,
  PlatformAdapter,
  SearchOptions,
  Untraced,
} from '../../../../src/platforms/contract.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'
import { after, buildPost, claimOf } from '../../../support/posts.ts'

const account = { accountId: 'did:plc:someone', handle: 'x.test', accessToken: 'token', version: 1 }

/** Attempts on posts in memory, at a platform that answers what the test says. */
function attempts(publish: PlatformAdapter['publish'], overrides: Partial<DeliverDeps> = {}) {
  const stored = new Map<string, Post>()
  const adapter = { platform: 'bluesky', prepare: async () => {}, publish } as unknown as PlatformAdapter
  const { deliver } = createDeliver({
    posts: {
      find: async (id: string) => stored.get(id) ?? null,
      async transition(id: string, move: Move) {
        const post = move(stored.get(id)!, systemClock.now())
        stored.set(id, post)
        return post
      },
    },
    users: { findById: async () => ({ isDisabled: false }) },
    notifications: { insertOnce: async () => true },
    credentials: { get: async () => account, renew: async () => account, markExpired: async () => true },
    platforms: { find: () => adapter },
    clock: systemClock,
    bulkheads: createBulkheads(1, createMetrics()),
    metrics: createMetrics(),
    publishTimeoutMs: 8 * SECOND,
    unansweredSettleMs: 600 * SECOND,
    maxLatenessMs: 3_600 * SECOND,
    ...overrides,
  } as unknown as DeliverDeps)
  return {
    stored,
    attempt: (post: Post, signal: AbortSignal, report: ActivityIo['report'] = () => {}, round = 0) => {
      const io: ActivityIo = { signal, remembered: null, remember: () => {}, report, runId: 'run', log: () => {} }
      return deliver({ postId: post._id, platform: 'bluesky', round }, io)
    },
    add(post: Post): Post {
      stored.set(post._id, post)
      return post
    },
    deliveryOf: (post: Post) => stored.get(post._id)!.platformStatuses[0]!.delivery,
  }
}

describe('an attempt that is called back', () => {
  it('while a refused login is renewed costs no try and leaves no doubt', async () => {
    const stop = new AbortController()
    const refused = new PlatformError('unauthorized', 'The login has expired', { certain: true })
    const renew = async () => {
      stop.abort(new Error('stopping'))
      throw stop.signal.reason
    }
    const { add, attempt, stored, deliveryOf } = attempts(() => Promise.reject(refused), {
      credentials: { get: async () => account, renew } as unknown as DeliverDeps['credentials'],
    })
    const post = add(buildPost({}, new Date()))
    await expect(attempt(post, stop.signal)).rejects.toThrow('stopping')
    expect(stored.get(post._id)!.status).toBe('PROCESSING')
    expect(deliveryOf(post)).toMatchObject({ outcome: 'deferred', tries: 0 })
    expect(needsReconciliation(deliveryOf(post), after(new Date(), 60 * SECOND))).toBe(false)
  })

  it('while it stands in line claims nothing', async () => {
    const gate = Promise.withResolvers<void>()
    const bothInLine = Promise.withResolvers<void>()
    const real = createBulkheads(1, createMetrics())
    let inLine = 0
    const send: typeof real.send = (...args) => {
      inLine += 1
      if (inLine === 2) bothInLine.resolve()
      return real.send(...args)
    }
    const publish = async () => {
      await gate.promise
      return { platformPostId: '1', platformPostUrl: 'https://x.example/1' }
    }
    const { add, attempt, deliveryOf } = attempts(publish, { bulkheads: { send } })
    const stop = new AbortController()
    const first = attempt(add(buildPost({}, new Date())), new AbortController().signal)
    const post = add(buildPost({}, new Date()))
    const second = attempt(post, stop.signal)
    await bothInLine.promise
    stop.abort(new Error('stopping'))
    gate.resolve()
    await expect(second).rejects.toThrow('stopping')
    expect(await first).toMatchObject({ outcome: 'completed' })
    expect(deliveryOf(post)).toMatchObject({ attempt: 0, key: null })
  })
})

it('has a lease that covers a call which may take longer than others', async () => {
  let leaseMs = 0
  let isGivenUp = true
  const publish: PlatformAdapter['publish'] = async (_post, _account, _delivery, { signal }) => {
    leaseMs = deliveryOf(post).leaseUntil!.getTime() - Date.now()
    // Longer than the usual deadline of these attempts.
    await new Promise((resolve) => setTimeout(resolve, 50))
    isGivenUp = signal.aborted
    return { platformPostId: '1', platformPostUrl: 'https://x.example/1' }
  }
  const slow = { platform: 'bluesky', prepare: async () => {}, publish, publishTimeoutMs: () => 100 * SECOND }
  const { add, attempt, deliveryOf } = attempts(publish, {
    publishTimeoutMs: 10,
    platforms: { find: () => slow as unknown as PlatformAdapter },
  })
  const post = add(buildPost({}, new Date()))
  expect(await attempt(post, new AbortController().signal)).toMatchObject({ outcome: 'completed' })
  expect(leaseMs).toBeGreaterThan(100 * SECOND)
  expect(isGivenUp).toBe(false)
})

it('does not call a doubtful delivery refused for a platform that is no longer supported', async () => {
  const { add, attempt, deliveryOf } = attempts(() => Promise.reject(new Error('not to be called')), {
    platforms: { find: () => null },
  })
  const before = after(new Date(), -60 * SECOND)
  const fresh = buildPost({}, before)
  const post = add(claimOf(fresh, 'bluesky', before)(fresh, before))
  await expect(attempt(post, new AbortController().signal)).rejects.toThrow('does not tell')
  expect(deliveryOf(post)).toMatchObject({ outcome: 'unknown', doubted: true })
})

it('does not end what another attempt took while this one found a reason to refuse', async () => {
  const world = attempts(() => Promise.reject(new Error('not to be called')), {
    users: {
      findById: async () => {
        const now = new Date()
        world.add(claimOf(post, 'bluesky', now)(world.stored.get(post._id)!, now))
        return { isDisabled: true }
      },
    } as unknown as DeliverDeps['users'],
  })
  const post = world.add(buildPost({}, new Date()))
  await expect(world.attempt(post, new AbortController().signal)).rejects.toThrow('Another attempt may be sending')
  expect(world.stored.get(post._id)!.platformStatuses[0]!.status).toBe('processing')
})

it('does not go out when its owner was disabled while its files were uploaded for long', async () => {
  let shiftMs = 0
  let isDisabled = false
  const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) }
  const prepare = async () => {
    shiftMs += 3 * SECOND
    isDisabled = true
  }
  const slow = { platform: 'bluesky', prepare, publish: () => Promise.reject(new Error('not to be called')) }
  const { add, attempt, stored } = attempts(slow.publish, {
    clock,
    users: { findById: async () => ({ isDisabled }) } as unknown as DeliverDeps['users'],
    platforms: { find: () => slow as unknown as PlatformAdapter },
  })
  const post = add(buildPost({}, new Date()))
  expect(await attempt(post, new AbortController().signal)).toMatchObject({ outcome: 'failed' })
  expect(stored.get(post._id)!.platformStatuses[0]).toMatchObject({
    status: 'failed',
    errorCode: 'ACCOUNT_DISABLED',
    attemptCount: 1,
  })
})

it('looks again for its own effect when the one it found is on record as another post', async () => {
  const taken = { platformPostId: 'taken', platformPostUrl: 'https://x.example/taken' }
  const world = attempts(async () => taken)
  const posts = {
    find: async (id: string) => world.stored.get(id) ?? null,
    async transition(id: string, move: Move) {
      const moved = move(world.stored.get(id)!, new Date())
      if (moved.publishedKeys) throw new EffectTaken()
      world.stored.set(id, moved)
      return moved
    },
  }
  const { attempt } = attempts(async () => taken, { posts: posts as unknown as DeliverDeps['posts'] })
  const post = world.add(buildPost({}, new Date()))
  await expect(attempt(post, new AbortController().signal)).rejects.toThrow('on record as another post')
  expect(world.stored.get(post._id)!.platformStatuses[0]).toMatchObject({
    status: 'processing',
    platformPostId: null,
    delivery: { outcome: 'unknown', doubted: true },
  })
})

it('tells the search when the last call began, and which effects are taken', async () => {
  const asked: unknown[] = []
  const reconcile: PlatformAdapter['reconcile'] = async (_post, _account, _delivery, options) => {
    asked.push(options.calledAt, options.wasAnswered, await options.isTaken('an-id'))
    return 'undecidable'
  }
  const adapter = { platform: 'bluesky', reconcile } as unknown as PlatformAdapter
  const world = attempts(() => Promise.reject(new Error('not to be called')))
  const isTaken = async (...args: unknown[]) => args.join(' ') === `${post._id} bluesky an-id`
  const posts = {
    find: async (id: string) => world.stored.get(id) ?? null,
    transition: async (id: string, move: Move) => move(world.stored.get(id)!, new Date()),
    isTaken,
  }
  const { attempt } = attempts(() => Promise.reject(new Error('not to be called')), {
    posts: posts as unknown as DeliverDeps['posts'],
    platforms: { find: () => adapter },
    credentials: {
      get: async () => ({ ...account, accountId: 'did:plc:someone' }),
    } as unknown as DeliverDeps['credentials'],
  })
  const before = after(new Date(), -60 * SECOND)
  const fresh = buildPost({}, before)
  const post = world.add(claimOf(fresh, 'bluesky', before)(fresh, before))
  await expect(attempt(post, new AbortController().signal)).rejects.toThrow('does not tell')
  expect(asked).toEqual([before, false, true])
})

it('finds a post that was deleted before the claim gone, and nothing wrong with that', async () => {
  const gone = new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  const post = buildPost({}, new Date())
  const posts = { find: async () => post, transition: () => Promise.reject(gone) }
  const { attempt } = attempts(() => Promise.reject(new Error('There must be no call')), {
    posts: posts as unknown as DeliverDeps['posts'],
  })
  const reports: string[] = []
  const result = await attempt(post, new AbortController().signal, (message) => reports.push(message))
  expect([result.outcome, reports]).toEqual(['void', []])
})

it('tells once of a post that was published by a round that had been given up', async () => {
  const answer = Promise.withResolvers<Published>()
  const called = Promise.withResolvers<void>()
  const told = new Set<string>()
  const { add, attempt, stored } = attempts(
    () => {
      called.resolve()
      return answer.promise
    },
    {
      notifications: {
        insertOnce: async ({ dedupeKey }: NewNotification) => told.add(dedupeKey),
      } as unknown as DeliverDeps['notifications'],
    },
  )
  const post = add(buildPost({}, new Date()))
  const { signal } = new AbortController()
  const givenUp = attempt(post, signal)
  await called.promise
  const failed = giveUp('bluesky', failure('INTERNAL', 'lost'), 0)(stored.get(post._id)!, new Date())
  add(retry()(failed, new Date()))
  answer.resolve({ platformPostId: '1', platformPostUrl: 'https://x.example/1' })
  await givenUp
  await attempt(post, signal, () => {}, 1)
  expect([...told]).toEqual([`post-published:${post._id}:bluesky`])
})

describe("a user's retry after an unknown outcome", () => {
  const HOURS_AGO = after(new Date(), -2 * 3_600 * SECOND)
  const published = { platformPostId: '2', platformPostUrl: 'https://x.example/2' }
  const unreachable = () => Promise.reject(new PlatformError('transient', 'The platform is away', { certain: false }))

  /** A post whose call of two hours ago was given up and never decided, and that its user sent round again. */
  function retried(reconcile: () => Promise<Published | Untraced>, connected: Partial<Credentials> | null = account) {
    const sent: { key: string; isRepeat: boolean; container: string | undefined }[] = []
    const adapter = {
      platform: 'bluesky',
      prepare: async () => {},
      async publish(_post: OutgoingPost, _account: Credentials, delivery: DeliveryLog) {
        sent.push({ key: delivery.key, isRepeat: delivery.isRepeat, container: delivery.handle('container') })
        return published
      },
      reconcile,
    }
    const world = attempts(adapter.publish, {
      platforms: { find: () => adapter as unknown as PlatformAdapter },
      credentials: { get: async () => connected } as unknown as DeliverDeps['credentials'],
    })
    const fresh = buildPost({}, HOURS_AGO)
    const claimed = claimOf(fresh, 'bluesky', HOURS_AGO)(fresh, HOURS_AGO)
    const prepared = updateEntry(claimed, 'bluesky', {
      delivery: { ...claimed.platformStatuses[0]!.delivery, handles: { container: 'c-1' } },
    })
    const failed = giveUp('bluesky', failure('INTERNAL', 'lost'), 0)(prepared, HOURS_AGO)
    const { leaseUntil: _, ...delivery } = failed.platformStatuses[0]!.delivery
    const post = world.add(
      retry()(updateEntry(failed, 'bluesky', { delivery: { ...delivery, leaseUntil: null } }), new Date()),
    )
    const attempt = () => world.attempt(post, new AbortController().signal, () => {}, 1)
    return { ...world, post, attempt, sent, firstKey: delivery.key }
  }

  it('completes the post without a call where reconciling finds it', async () => {
    const { attempt, sent } = retried(async () => published)
    expect(await attempt()).toMatchObject({ outcome: 'completed' })
    expect(sent).toEqual([])
  })

  it('repeats the call with its key where reconciling finds nothing', async () => {
    const { attempt, sent, firstKey } = retried(async () => 'absent')
    expect(await attempt()).toMatchObject({ outcome: 'completed' })
    expect(sent).toEqual([{ key: firstKey, isRepeat: true, container: 'c-1' }])
  })

  it.each<[string, () => Promise<Published | Untraced>, Partial<Credentials>]>([
    ['cannot decide', async () => 'undecidable', account],
    [
      'is refused by the platform',
      () => Promise.reject(new PlatformError('permission', 'Not allowed to read posts', { certain: true })),
      account,
    ],
    ['would ask an account that is no longer connected', async () => 'absent', { ...account, accountId: 'another' }],
  ])('publishes the post anew, with a key and preparations of its own, where reconciling %s', async (_, look, as) => {
    const { attempt, sent, firstKey } = retried(look, as)
    expect(await attempt()).toMatchObject({ outcome: 'completed' })
    expect(sent).toEqual([{ key: expect.any(String), isRepeat: false, container: undefined }])
    expect(sent[0]!.key).not.toBe(firstKey)
  })

  it('goes out after five looks that reached nobody', async () => {
    const { attempt, sent, stored, post, deliveryOf } = retried(unreachable)
    for (let look = 1; look <= 5; look++) {
      await expect(attempt()).rejects.toThrow('could not be asked')
      expect(deliveryOf(post).reconcileTries).toBe(look)
      const due = updateEntry(stored.get(post._id)!, 'bluesky', {
        delivery: { ...deliveryOf(post), nextAttemptAt: null },
      })
      stored.set(post._id, due)
    }
    expect(await attempt()).toMatchObject({ outcome: 'completed' })
    expect(sent).toHaveLength(1)
  })

  it('waits while the earlier call may still take effect', async () => {
    const { attempt, sent } = retried(async () => 'unsettled')
    await expect(attempt()).rejects.toThrow('no trace of the post yet')
    expect(sent).toEqual([])
  })

  it('ends at once and keeps the doubt where no account is connected', async () => {
    const { attempt, sent, stored, post } = retried(async () => 'absent', null)
    expect(await attempt()).toMatchObject({ outcome: 'failed' })
    expect(stored.get(post._id)!.platformStatuses[0]).toMatchObject({ errorCode: 'OUTCOME_UNKNOWN' })
    expect(sent).toEqual([])
  })
})

it('keeps with an unknown outcome whether the call was answered, through looks that decide nothing', async () => {
  const wasAnswered: boolean[] = []
  for (const answered of [true, false]) {
    const lost = new PlatformError('transient', 'Lost', { certain: false, answered })
    const adapter = {
      platform: 'bluesky',
      prepare: async () => {},
      publish: () => Promise.reject(lost),
      reconcile: async (_post: OutgoingPost, _account: Credentials, _log: DeliveryLog, options: SearchOptions) => {
        wasAnswered.push(options.wasAnswered)
        return 'unsettled'
      },
    } as unknown as PlatformAdapter
    const { add, attempt, stored, deliveryOf } = attempts(adapter.publish, { platforms: { find: () => adapter } })
    const post = add(buildPost({}, new Date()))
    for (let call = 0; call < 3; call++) {
      await attempt(post, new AbortController().signal).catch(() => undefined)
      const due = updateEntry(stored.get(post._id)!, 'bluesky', {
        delivery: { ...deliveryOf(post), nextAttemptAt: null },
      })
      stored.set(post._id, due)
    }
  }
  expect(wasAnswered).toEqual([true, true, false, false])
})
