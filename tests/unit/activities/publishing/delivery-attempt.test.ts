import { describe, expect, it } from 'vitest'
import { createCallLimiter } from '../../../../src/activities/shared/call-limiter.ts'
import type { ActivityIo } from '../../../../src/activities/publishing/attempt.ts'
import {
  createDeliveryAttempts,
  type DeliveryAttemptDeps,
} from '../../../../src/activities/publishing/delivery-attempt.ts'
import { systemClock } from '../../../../src/clock.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { accept, EffectTaken, giveUp, markUnknown } from '../../../../src/domain/posts/delivery-moves.ts'
import { updateEntry, needsReconciliation } from '../../../../src/domain/posts/post-entries.ts'
import { retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post, Published } from '../../../../src/domain/posts/post.ts'
import { ServiceError } from '../../../../src/domain/shared/service-error.ts'
import { SECOND } from '../../../../src/domain/shared/times.ts'
import type { PostRef } from '../../../../src/store/posts/pending-events.ts'
import type {
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  PlatformAdapter,
  SearchOptions,
  NotFoundResult,
} from '../../../../src/platforms/contract.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'
import { after, buildPost, buildClaim } from '../../../support/posts.ts'
import { partial } from '../../../support/partial.ts'

const subscription = { plan: 'free' }
const account = { accountId: 'did:plc:someone', handle: 'x.test', accessToken: 'token', version: 1 }

/** Matches the result of an attempt that must be repeated for a reason that contains the text. */
const retryBecause = (reason: string) => ({ kind: 'retryIn', why: expect.stringContaining(reason) as string })

/** Creates delivery attempts for posts in memory and a platform with a scripted `publish`. */
function createAttempts(publish: PlatformAdapter['publish'], overrides: Partial<DeliveryAttemptDeps> = {}) {
  const stored = new Map<string, Post>()
  const adapter = { platform: 'bluesky', prepare: async () => {}, publish } as unknown as PlatformAdapter
  const { attemptDelivery } = createDeliveryAttempts({
    posts: {
      find: async (id: string) => stored.get(id) ?? null,
      async transition({ _id: id }: PostRef, move: Move) {
        const post = move(stored.get(id)!, systemClock.now())
        stored.set(id, post)
        return post
      },
      findArmedFields: async (ids: string[]) =>
        new Map(ids.flatMap((id) => (stored.has(id) ? [[id, stored.get(id)]] : []))),
    },
    users: { findById: async () => ({ isDisabled: false, subscription }) },
    planWeights: { free: 1, pro: 1 },
    notifications: { insertOnce: async () => true },
    credentials: {
      get: async () => account,
      renew: async () => account,
      markExpired: async () => true,
      markRefused: async () => {},
    },
    platforms: { find: () => adapter },
    clock: systemClock,
    callLimiter: createCallLimiter({ start: 1, most: 1 }, createMetrics(), { now: Date.now }),
    wakeDeliveries: async () => {},
    callWindows: { readReturn: async () => null },
    metrics: createMetrics(),
    publishTimeoutMs: 8 * SECOND,
    unansweredSettleMs: 600 * SECOND,
    maxLatenessMs: 3_600 * SECOND,
    activitySlots: 4,
    ...overrides,
  } as unknown as DeliveryAttemptDeps)
  const deliveryOf = (post: Post) => stored.get(post._id)!.platformStatuses[0]!.delivery
  return {
    stored,
    attempt: (
      post: Post,
      signal: AbortSignal,
      report: ActivityIo['report'] = () => {},
      { round = 0, remembered = null }: { round?: number; remembered?: ActivityIo['remembered'] } = {},
    ) => {
      const io: ActivityIo = {
        ...{ signal, report, runId: 'run', remembered },
        remember: () => {},
        waitUntil: () => {},
        log: () => {},
      }
      return attemptDelivery({ postId: post._id, userId: post.userId, platform: 'bluesky', round }, io)
    },
    add(post: Post): Post {
      stored.set(post._id, post)
      return post
    },
    deliveryOf,
    /** Ends the wait before the next attempt. */
    endWait(post: Post): void {
      const delivery = { ...deliveryOf(post), nextAttemptAt: null }
      stored.set(post._id, updateEntry(stored.get(post._id)!, 'bluesky', { delivery }))
    },
  }
}

describe('an aborted attempt', () => {
  it('an attempt aborted while it renews a login costs no try and needs no reconciliation', async () => {
    const stop = new AbortController()
    const refused = new PlatformError('unauthorized', 'The login has expired', { certain: true })
    const renew = async () => {
      stop.abort(new Error('stopping'))
      throw stop.signal.reason
    }
    const { add, attempt, stored, deliveryOf } = createAttempts(() => Promise.reject(refused), {
      credentials: { get: async () => account, renew } as unknown as DeliveryAttemptDeps['credentials'],
    })
    const post = add(buildPost({}, new Date()))
    await expect(attempt(post, stop.signal)).rejects.toThrow('stopping')
    expect(stored.get(post._id)!.status).toBe('PROCESSING')
    expect(deliveryOf(post)).toMatchObject({ outcome: 'deferred', tries: 0 })
    expect(needsReconciliation(deliveryOf(post), after(new Date(), 60 * SECOND))).toBe(false)
  })

  it('an attempt aborted while it waits for capacity claims nothing', async () => {
    const gate = Promise.withResolvers<void>()
    const bothWaiting = Promise.withResolvers<void>()
    const limiter = createCallLimiter({ start: 1, most: 1 }, createMetrics())
    let waiting = 0
    const run: typeof limiter.run = (...args) => {
      waiting += 1
      if (waiting === 2) bothWaiting.resolve()
      return limiter.run(...args)
    }
    const publish = async () => {
      await gate.promise
      return { platformPostId: '1', platformPostUrl: 'https://x.example/1' }
    }
    const { add, attempt, deliveryOf } = createAttempts(publish, { callLimiter: { ...limiter, run } })
    const stop = new AbortController()
    const first = attempt(add(buildPost({}, new Date())), new AbortController().signal)
    const post = add(buildPost({}, new Date()))
    const second = attempt(post, stop.signal)
    await bothWaiting.promise
    stop.abort(new Error('stopping'))
    gate.resolve()
    await expect(second).rejects.toThrow('stopping')
    expect(await first).toMatchObject({ kind: 'done', result: { outcome: 'completed' } })
    expect(deliveryOf(post)).toMatchObject({ attempt: 0, key: null })
  })
})

it.each([
  ['without a response leaves the delivery open', false, retryBecause('Invalid text')],
  ['with a response ends the delivery', true, { kind: 'done', result: { outcome: 'failed' } }],
])('a refused repeat of a call %s', async (_, answered, expected) => {
  const answers = [
    new PlatformError('transient', 'No connection', { certain: false, answered }),
    new PlatformError('validation', 'Invalid text', { certain: true }),
  ]
  const adapter = {
    platform: 'bluesky',
    prepare: async () => {},
    publish: () => Promise.reject(answers.shift()!),
    reconcile: async () => 'absent',
  } as unknown as PlatformAdapter
  const { add, attempt, endWait } = createAttempts(adapter.publish, { platforms: partial({ find: () => adapter }) })
  const post = add(buildPost({}, new Date()))
  const { signal } = new AbortController()
  expect(await attempt(post, signal)).toMatchObject(retryBecause('No connection'))
  endWait(post)
  expect(await attempt(post, signal)).toMatchObject(expected)
})

it('the lease of a delivery covers the longer timeout of a slow call', async () => {
  let leaseMs = 0
  let isAborted = true
  const publish: PlatformAdapter['publish'] = async (_post, _account, _delivery, { signal }) => {
    leaseMs = deliveryOf(post).leaseUntil!.getTime() - Date.now()
    // The wait exceeds the default timeout of this test.
    await new Promise((resolve) => setTimeout(resolve, 50))
    isAborted = signal.aborted
    return { platformPostId: '1', platformPostUrl: 'https://x.example/1' }
  }
  const slow = { platform: 'bluesky', prepare: async () => {}, publish, publishTimeoutMs: () => 100 * SECOND }
  const { add, attempt, deliveryOf } = createAttempts(publish, {
    publishTimeoutMs: 10,
    platforms: partial({ find: () => slow as unknown as PlatformAdapter }),
  })
  const post = add(buildPost({}, new Date()))
  expect(await attempt(post, new AbortController().signal)).toMatchObject({
    kind: 'done',
    result: { outcome: 'completed' },
  })
  expect(leaseMs).toBeGreaterThan(100 * SECOND)
  expect(isAborted).toBe(false)
})

it('a delivery with an unknown outcome stays unknown when its platform is no longer set up', async () => {
  const { add, attempt, deliveryOf } = createAttempts(() => Promise.reject(new Error('unexpected call')), {
    platforms: partial({ find: () => null }),
  })
  const before = after(new Date(), -60 * SECOND)
  const fresh = buildPost({}, before)
  const post = add(buildClaim(fresh, 'bluesky', before)(fresh, before))
  expect(await attempt(post, new AbortController().signal)).toMatchObject(retryBecause('does not report whether'))
  expect(deliveryOf(post)).toMatchObject({ outcome: 'unknown', hadUnknownOutcome: true })
})

it('a refusal does not end a delivery that another attempt claimed meanwhile', async () => {
  const attempts = createAttempts(() => Promise.reject(new Error('unexpected call')), {
    users: {
      findById: async () => {
        const now = new Date()
        attempts.add(buildClaim(post, 'bluesky', now)(attempts.stored.get(post._id)!, now))
        return { isDisabled: true, subscription }
      },
    } as unknown as DeliveryAttemptDeps['users'],
  })
  const post = attempts.add(buildPost({}, new Date()))
  expect(await attempts.attempt(post, new AbortController().signal)).toMatchObject(
    retryBecause('Another attempt may be sending'),
  )
  expect(attempts.stored.get(post._id)!.platformStatuses[0]!.status).toBe('processing')
})

it('a post is not sent when its owner is disabled during a long upload', async () => {
  let shiftMs = 0
  let isDisabled = false
  const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) }
  const prepare = async () => {
    shiftMs += 3 * SECOND
    isDisabled = true
  }
  const slow = { platform: 'bluesky', prepare, publish: () => Promise.reject(new Error('unexpected call')) }
  const { add, attempt, stored } = createAttempts(slow.publish, {
    clock,
    users: { findById: async () => ({ isDisabled, subscription }) } as unknown as DeliveryAttemptDeps['users'],
    platforms: partial({ find: () => slow as unknown as PlatformAdapter }),
  })
  const post = add(buildPost({}, new Date()))
  expect(await attempt(post, new AbortController().signal)).toMatchObject({
    kind: 'done',
    result: { outcome: 'failed' },
  })
  expect(stored.get(post._id)!.platformStatuses[0]).toMatchObject({
    status: 'failed',
    errorCode: 'ACCOUNT_DISABLED',
    attemptCount: 1,
  })
})

it('an accepted platform post that belongs to another post leaves the outcome unknown, and the next call gets another key', async () => {
  const taken = { platformPostId: 'taken', platformPostUrl: 'https://x.example/taken' }
  const attempts = createAttempts(async () => taken)
  const posts = {
    find: async (id: string) => attempts.stored.get(id) ?? null,
    async transition({ _id: id }: PostRef, move: Move) {
      const moved = move(attempts.stored.get(id)!, new Date())
      if (moved.publishedKeys) throw new EffectTaken()
      attempts.stored.set(id, moved)
      return moved
    },
  }
  const { attempt } = createAttempts(async () => taken, { posts: posts as unknown as DeliveryAttemptDeps['posts'] })
  const post = attempts.add(buildPost({}, new Date()))
  expect(await attempt(post, new AbortController().signal)).toMatchObject(
    retryBecause('already belongs to another post'),
  )
  expect(attempts.stored.get(post._id)!.platformStatuses[0]).toMatchObject({
    status: 'processing',
    platformPostId: null,
    delivery: { outcome: 'unknown', hadUnknownOutcome: true, key: `${post._id}/bluesky/0/1` },
  })
})

it('reconcile gets the start of the last call and the platform posts that are taken', async () => {
  const received: unknown[] = []
  const reconcile: PlatformAdapter['reconcile'] = async (_post, _account, _delivery, options) => {
    received.push(options.calledAt, options.wasAnswered, await options.isTaken('an-id'))
    return 'undecidable'
  }
  const adapter = { platform: 'bluesky', reconcile } as unknown as PlatformAdapter
  const attempts = createAttempts(() => Promise.reject(new Error('unexpected call')))
  const findOtherHolder = async (...args: unknown[]) =>
    args.join(' ') === `${post._id} bluesky an-id` ? 'another-post' : null
  const posts = {
    find: async (id: string) => attempts.stored.get(id) ?? null,
    transition: async ({ _id: id }: PostRef, move: Move) => move(attempts.stored.get(id)!, new Date()),
    findOtherHolder,
  }
  const { attempt } = createAttempts(() => Promise.reject(new Error('unexpected call')), {
    posts: posts as unknown as DeliveryAttemptDeps['posts'],
    platforms: partial({ find: () => adapter }),
    credentials: {
      get: async () => ({ ...account, accountId: 'did:plc:someone' }),
    } as unknown as DeliveryAttemptDeps['credentials'],
  })
  const before = after(new Date(), -60 * SECOND)
  const fresh = buildPost({}, before)
  const post = attempts.add(buildClaim(fresh, 'bluesky', before)(fresh, before))
  expect(await attempt(post, new AbortController().signal)).toMatchObject(retryBecause('does not report whether'))
  expect(received).toEqual([before, false, true])
})

it.each([
  { texts: 'equal', answered: false, result: 'has no trace', status: 'processing' },
  { texts: 'equal', answered: true, result: 'must not be sent', status: 'pending' },
  { texts: 'different', answered: false, result: 'must not be sent', status: 'pending' },
] as const)(
  'a post that is not found waits while the unanswered call of an equal post may publish again ($texts texts, answered: $answered)',
  async ({ texts, answered, result, status }) => {
    const now = new Date()
    const before = after(now, -60 * SECOND)
    const [first, second] = [buildPost({}, before), buildPost({}, before)].map((post) =>
      buildClaim(post, 'bluesky', before)(post, before),
    )
    const ref = { round: 0, attempt: 1 }
    const reason = failure('OUTCOME_UNKNOWN', 'No answer')
    const lost = markUnknown('bluesky', reason, ref, answered)(first!, before)
    const content = texts === 'equal' ? second!.content : { ...first!.content, text: 'Other words' }
    const found = accept('bluesky', { platformPostId: '7', platformPostUrl: 'https://x.example/7' })(lost, now)
    const adapter = {
      platform: 'bluesky',
      prepare: () => Promise.reject(new PlatformError('transient', 'The media must not be sent', { certain: true })),
      reconcile: async (_post: unknown, _account: unknown, _delivery: unknown, options: SearchOptions) =>
        (await options.isTaken('7')) ? 'absent' : 'undecidable',
    } as unknown as PlatformAdapter
    const { stored, add, attempt } = createAttempts(() => Promise.reject(new Error('unexpected call')), {
      platforms: partial({ find: () => adapter }),
      posts: {
        find: async (id: string) => stored.get(id) ?? null,
        async transition({ _id: id }: PostRef, move: Move) {
          stored.set(id, move(stored.get(id)!, new Date()))
          return stored.get(id)!
        },
        findOtherHolder: async () => found._id,
      } as unknown as DeliveryAttemptDeps['posts'],
    })
    add({ ...found, content })
    add(second!)
    expect(await attempt(second!, new AbortController().signal)).toMatchObject({
      kind: 'retryIn',
      why: expect.stringContaining(result) as string,
    })
    expect(stored.get(second!._id)!.platformStatuses[0]!.status).toBe(status)
  },
)

it.each([
  { holder: null, ends: { kind: 'done' }, status: 'completed' },
  { holder: 'an equal post', ends: { kind: 'retryIn' }, status: 'processing' },
])(
  'the answer to a lost attempt is recorded unless another post has been found by it ($holder)',
  async ({ holder, ends, status }) => {
    const now = new Date()
    const post = buildPost({}, now)
    const { stored, add, attempt } = createAttempts(() => Promise.reject(new Error('unexpected call')), {
      posts: {
        find: async (id: string) => stored.get(id) ?? null,
        async transition({ _id: id }: PostRef, move: Move) {
          stored.set(id, move(stored.get(id)!, new Date()))
          return stored.get(id)!
        },
        findOtherHolder: async () => holder,
      } as unknown as DeliveryAttemptDeps['posts'],
    })
    add(buildClaim(post, 'bluesky', now)(post, now))
    const remembered = { round: 0, attempt: 1, platformPostId: '7', platformPostUrl: 'https://x.example/7' }
    expect(await attempt(post, new AbortController().signal, undefined, { remembered })).toMatchObject(ends)
    expect(stored.get(post._id)!.platformStatuses[0]!.status).toBe(status)
  },
)

it('a post deleted before its claim ends the attempt without an error report', async () => {
  const notFound = new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  const post = buildPost({}, new Date())
  const posts = { find: async () => post, transition: () => Promise.reject(notFound) }
  const { attempt } = createAttempts(() => Promise.reject(new Error('unexpected call')), {
    posts: posts as unknown as DeliveryAttemptDeps['posts'],
  })
  const reports: string[] = []
  const result = await attempt(post, new AbortController().signal, (message) => reports.push(message))
  expect(result).toMatchObject({ kind: 'superseded', result: { outcome: 'nothing-to-do', status: 'DELETED' } })
  expect(reports).toEqual([])
})

describe("a user's retry after an unknown outcome", () => {
  const HOURS_AGO = after(new Date(), -2 * 3_600 * SECOND)
  const published = { platformPostId: '2', platformPostUrl: 'https://x.example/2' }
  const unreachable = () => Promise.reject(new PlatformError('transient', 'The platform is away', { certain: false }))

  /** Creates a post whose outcome has been unknown for two hours and which its user retried. */
  function createRetried(
    reconcile: () => Promise<Published | NotFoundResult>,
    connected: typeof account | null = account,
  ) {
    const sent: { key: string; isRepeat: boolean; container: string | undefined }[] = []
    const adapter = {
      platform: 'bluesky',
      prepare: async () => {},
      async publish(_post: OutgoingPost, _account: Credentials, delivery: DeliveryCheckpoints) {
        sent.push({ key: delivery.key, isRepeat: delivery.isRepeat, container: delivery.get('container') })
        return published
      },
      reconcile,
    }
    const attempts = createAttempts(adapter.publish, {
      platforms: partial({ find: () => adapter as unknown as PlatformAdapter }),
      credentials: { get: async () => connected } as unknown as DeliveryAttemptDeps['credentials'],
    })
    const fresh = buildPost({}, HOURS_AGO)
    const claimed = buildClaim(fresh, 'bluesky', HOURS_AGO)(fresh, HOURS_AGO)
    const prepared = updateEntry(claimed, 'bluesky', {
      delivery: { ...claimed.platformStatuses[0]!.delivery, handles: { container: 'c-1' } },
    })
    const failed = giveUp('bluesky', failure('INTERNAL', 'lost'), 0)(prepared, HOURS_AGO)
    const { leaseUntil: _, ...delivery } = failed.platformStatuses[0]!.delivery
    const post = attempts.add(
      retry()(updateEntry(failed, 'bluesky', { delivery: { ...delivery, leaseUntil: null } }), new Date()),
    )
    const attempt = () => attempts.attempt(post, new AbortController().signal, () => {}, { round: 1 })
    return { ...attempts, post, attempt, sent, firstKey: delivery.key }
  }

  it('a retried post that reconcile finds is completed without a call', async () => {
    const { attempt, sent } = createRetried(async () => published)
    expect(await attempt()).toMatchObject({ kind: 'done', result: { outcome: 'completed' } })
    expect(sent).toEqual([])
  })

  it('a retried post that reconcile does not find is sent again with its key', async () => {
    const { attempt, sent, firstKey } = createRetried(async () => 'absent')
    expect(await attempt()).toMatchObject({ kind: 'done', result: { outcome: 'completed' } })
    expect(sent).toEqual([{ key: firstKey, isRepeat: true, container: 'c-1' }])
  })

  it.each<[string, () => Promise<Published | NotFoundResult>]>([
    ['cannot decide', async () => 'undecidable'],
    [
      'is refused by the platform',
      () => Promise.reject(new PlatformError('permission', 'Not allowed to read posts', { certain: true })),
    ],
  ])('a retried post is published with a new key and new preparations when reconcile %s', async (_, reconcile) => {
    const { attempt, sent, firstKey } = createRetried(reconcile)
    expect(await attempt()).toMatchObject({ kind: 'done', result: { outcome: 'completed' } })
    expect(sent).toEqual([{ key: expect.any(String), isRepeat: false, container: undefined }])
    expect(sent[0]!.key).not.toBe(firstKey)
  })

  it('a retried post is sent after five unreachable reconciles', async () => {
    const { attempt, sent, post, deliveryOf, endWait } = createRetried(unreachable)
    for (let tries = 1; tries <= 5; tries++) {
      expect(await attempt()).toMatchObject(retryBecause('did not answer whether'))
      expect(deliveryOf(post).reconcileTries).toBe(tries)
      endWait(post)
    }
    expect(await attempt()).toMatchObject({ kind: 'done', result: { outcome: 'completed' } })
    expect(sent).toHaveLength(1)
  })

  it('a retried post waits while the earlier call may still take effect', async () => {
    const { attempt, sent } = createRetried(async () => 'in-flight')
    expect(await attempt()).toMatchObject(retryBecause('no trace of the post yet'))
    expect(sent).toEqual([])
  })

  it('a retried post fails immediately with an unknown outcome when no account is connected', async () => {
    const { attempt, sent, stored, post } = createRetried(async () => 'absent', null)
    expect(await attempt()).toMatchObject({ kind: 'done', result: { outcome: 'failed' } })
    expect(stored.get(post._id)!.platformStatuses[0]).toMatchObject({ errorCode: 'OUTCOME_UNKNOWN' })
    expect(sent).toEqual([])
  })
})

it('an unknown outcome keeps whether the call was answered through undecided reconciles', async () => {
  const wasAnswered: boolean[] = []
  for (const answered of [true, false]) {
    const lost = new PlatformError('transient', 'Lost', { certain: false, answered })
    const adapter = {
      platform: 'bluesky',
      prepare: async () => {},
      publish: () => Promise.reject(lost),
      reconcile: async (
        _post: OutgoingPost,
        _account: Credentials,
        _log: DeliveryCheckpoints,
        options: SearchOptions,
      ) => {
        wasAnswered.push(options.wasAnswered)
        return 'in-flight'
      },
    } as unknown as PlatformAdapter
    const { add, attempt, endWait } = createAttempts(adapter.publish, { platforms: partial({ find: () => adapter }) })
    const post = add(buildPost({}, new Date()))
    for (let call = 0; call < 3; call++) {
      await attempt(post, new AbortController().signal).catch(() => undefined)
      endWait(post)
    }
  }
  expect(wasAnswered).toEqual([true, true, false, false])
})

it("a visible call waits with the weight of its owner's plan", async () => {
  const weights: unknown[] = []
  const limiter = createCallLimiter({ start: 1, most: 1 }, createMetrics())
  const run: typeof limiter.run = (destination, call) => {
    weights.push(destination.weight)
    return limiter.run(destination, call)
  }
  const publish = async () => ({ platformPostId: '1', platformPostUrl: 'https://x.example/1' })
  for (const plan of ['free', 'pro']) {
    const { add, attempt } = createAttempts(publish, {
      callLimiter: { ...limiter, run },
      planWeights: { free: 3, pro: 5 },
      users: {
        findById: async () => ({ isDisabled: false, subscription: { plan } }),
      } as unknown as DeliveryAttemptDeps['users'],
    })
    await attempt(add(buildPost({}, new Date())), new AbortController().signal)
  }
  expect(weights).toEqual([3, 5])
})

it('a user can arm three quarters of the slots, and other users the rest shortly before their posts are due', async () => {
  const { add, attempt } = createAttempts(() => Promise.reject(new Error('unexpected call')))
  const stop = new AbortController()
  const arm = (userId: string, aheadMs: number) => {
    const post = buildPost({ userId, scheduledAt: after(new Date(), aheadMs) }, new Date())
    return attempt(add(post), stop.signal)
  }
  const armed = ['many', 'many', 'many'].map((userId) => arm(userId, 60 * SECOND))
  expect(await arm('many', 10 * SECOND)).toMatchObject(retryBecause('too early'))
  expect(await arm('one', 60 * SECOND)).toMatchObject(retryBecause('too early'))
  armed.push(arm('one', 10 * SECOND))
  const ended = Promise.allSettled(armed)
  stop.abort()
  expect((await ended).map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
})
