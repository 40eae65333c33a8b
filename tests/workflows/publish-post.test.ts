import { setTimeout as delay } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { cancel, edit, retry } from '../../src/domain/posts/post-moves.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import { startSkippedTime, type Scenario, type SkippedTime } from './skipped-time.ts'

let time: SkippedTime
let scenario: Scenario | undefined

beforeAll(async () => {
  time = await startSkippedTime()
})
afterEach(async () => {
  await scenario?.stop()
  scenario = undefined
})
afterAll(() => time?.stop())

async function start(options: Parameters<SkippedTime['scenario']>[0]): Promise<Scenario> {
  scenario = await time.scenario(options)
  return scenario
}

/** Starts a post whose armed activity is held in its preparation until the test calls `release`. */
async function startArmed() {
  const armed = Promise.withResolvers<Context>()
  const held = Promise.withResolvers<void>()
  const prepare = async () => {
    armed.resolve(Context.current())
    await held.promise
  }
  const post = await start({ dueIn: 20 * SECOND, prepare })
  // In steps: awaiting the result would make the server skip time while the activity is held.
  const isArmed = armed.promise.then(() => true)
  while (!(await Promise.race([isArmed, delay(50)]))) await post.pass(SECOND)
  return { post, activity: await armed.promise, release: () => held.resolve() }
}

async function countEndedActivities(post: Scenario): Promise<number> {
  const { events } = await post.history()
  return (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes).length
}

const refused = new PlatformError('validation', 'The platform refused the text', { certain: true })
const stillProcessing = new PlatformError('media_not_ready', 'Still processing the video', {
  certain: true,
  retryAfterMs: 30 * SECOND,
})
const image = { storageKey: 'posts/x/1.png', storageUrl: 'https://storage.example/1.png', mimeType: 'image/png' }
const video = { storageKey: 'posts/x/1.mp4', storageUrl: 'https://storage.example/1.mp4', mimeType: 'video/mp4' }

describe('publishPost', () => {
  it('an immediate post is published on every platform and its status is returned', async () => {
    const post = await start({ platforms: ['bluesky', 'mastodon', 'tumblr'] })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent.map(({ platform }) => platform).toSorted()).toEqual(['bluesky', 'mastodon', 'tumblr'])
  })

  it.each([
    ['a text', 'workflow task', {}, 0],
    ['an image', 'activity', { post: { content: { text: 'Sea', mediaItems: [image] } } }, 1],
  ])('an immediate post with %s is published in the %s', async (_content, _where, options, activities) => {
    const post = await start(options)
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
    expect(await countEndedActivities(post)).toBe(activities)
  })

  it.each([
    ['has no result yet', () => Promise.resolve([null])],
    ['fails', () => Promise.reject(new Error('The database is down'))],
  ])('an activity publishes the text when its first attempt %s', async (_name, publishBriefly) => {
    const post = await start({ activities: { publishBriefly } })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
    expect(await countEndedActivities(post)).toBe(1)
  })

  it.each([
    ['a minute', MINUTE],
    ['a year', 365 * DAY],
  ])('a post scheduled %s ahead is sent when it is due and never before', async (_name, dueIn) => {
    const post = await start({ dueIn })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
    expect(post.sent[0]!.at).toBeGreaterThanOrEqual(post.dueAt())
  })

  it('an immediate post with a hold is prepared meanwhile and sent at its end, also by a restarted worker', async () => {
    const content = { text: 'Sea', mediaItems: [image] }
    const post = await start({ post: { content, holdSeconds: 120 }, forgetsWorkflows: true })
    await post.pass(100 * SECOND)
    const { preparations, sent } = post
    const meanwhile = [[...preparations], [...sent]]
    expect(await post.result()).toBe('COMPLETED')
    expect(meanwhile).toEqual([['bluesky'], []])
    expect(sent).toHaveLength(1)
    expect(sent[0]!.at).toBeGreaterThanOrEqual(post.dueAt())
    expect(sent[0]!.at).toBeLessThan(post.dueAt() + 30 * SECOND)
  })

  it('a post cancelled during its hold is never sent', async () => {
    const post = await start({ post: { holdSeconds: 120 } })
    await post.pass(MINUTE)
    await post.change(cancel(), 'cancel')
    expect(await post.result()).toBe('CANCELLED')
    expect(post.sent).toEqual([])
    expect(await post.endedAt()).toBeLessThan(post.dueAt())
  })

  it('a post whose hold is ended early is sent immediately', async () => {
    const post = await start({ post: { holdSeconds: 120 } })
    const heldUntil = post.dueAt()
    await post.pass(SECOND)
    await post.change(edit({ holdSeconds: 0 }), 'changed')
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
    expect(post.sent[0]!.at).toBeLessThan(heldUntil - MINUTE)
  })

  it('a post cancelled while it waits is never sent, and its workflow ends early', async () => {
    const post = await start({ dueIn: 30 * DAY })
    await post.pass(HOUR)
    await post.change(cancel(), 'cancel')
    expect(await post.result()).toBe('CANCELLED')
    expect(post.sent).toEqual([])
    expect(await post.endedAt()).toBeLessThan(post.dueAt() - DAY)
  })

  it('a post cancelled while it is armed is never sent', async () => {
    const { post, release } = await startArmed()
    await post.change(cancel(), 'cancel')
    release()
    expect(await post.result()).toBe('CANCELLED')
    expect(post.sent).toEqual([])
  })

  it('a post deleted while it waits is never sent', async () => {
    const post = await start({ dueIn: DAY })
    await post.pass(HOUR)
    await post.remove()
    expect(await post.result()).toBe('DELETED')
    expect(post.sent).toEqual([])
  })

  it('cancelling the workflow in Temporal cancels the post', async () => {
    const post = await start({ dueIn: DAY })
    await post.pass(HOUR)
    await post.cancelWorkflow()
    expect(await post.result()).toBe('CANCELLED')
    expect(post.post()).toMatchObject({ status: 'CANCELLED' })
    expect(post.sent).toEqual([])
  })

  it.each([
    ['earlier', 30 * DAY, DAY],
    ['later', DAY, 30 * DAY],
  ])('a post moved %s is sent at its new time', async (_name, dueIn, movedTo) => {
    const post = await start({ dueIn })
    await post.pass(HOUR)
    await post.clock.sync()
    const scheduledAt = new Date(post.clock.now().getTime() + movedTo)
    await post.change(edit({ scheduledAt }), 'changed')
    expect(await post.result()).toBe('COMPLETED')
    expect(post.dueAt()).toBe(scheduledAt.getTime())
    expect(post.sent).toHaveLength(1)
    expect(post.sent[0]!.at).toBeGreaterThanOrEqual(scheduledAt.getTime())
    expect(post.sent[0]!.at).toBeLessThan(scheduledAt.getTime() + MINUTE)
  })

  it('a post moved and edited while it is armed is published later with the new text', async () => {
    const { post, activity, release } = await startArmed()
    const scheduledAt = new Date(post.dueAt() + DAY)
    await post.change(edit({ scheduledAt, content: { text: 'Last words', mediaItems: [] } }), 'changed')
    // The test server, unlike Temporal, loses a cancellation that arrives between two tries of an activity.
    await expect(activity.cancelled).rejects.toThrow()
    release()
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toMatchObject([{ text: 'Last words' }])
    expect(post.sent[0]!.at).toBeGreaterThanOrEqual(scheduledAt.getTime())
  })

  it('a post ends with PARTIAL_SUCCESS when one platform refuses, and a retry sends only to that platform', async () => {
    const post = await start({
      platforms: ['bluesky', 'mastodon'],
      respond: async (platform, call) => {
        if (platform === 'mastodon' && call === 1) throw refused
      },
    })
    expect(await post.result()).toBe('PARTIAL_SUCCESS')
    expect(await post.outcomes()).toEqual(
      expect.arrayContaining([expect.objectContaining({ outcome: 'failed', failure: expect.any(Object) })]),
    )
    await post.change(retry(), 'retry')
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent.map(({ platform }) => platform)).toEqual(['bluesky', 'mastodon'])
  })

  it('a transient failure is retried while tries are left', async () => {
    const busy = new PlatformError('transient', 'The platform is busy', { certain: true })
    const post = await start({
      respond: async (_platform, call) => {
        if (call <= 4) throw busy
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.post()!.platformStatuses[0]).toMatchObject({ attemptCount: 5 })

    await post.stop()
    const hopeless = await start({ respond: () => Promise.reject(busy) })
    expect(await hopeless.result()).toBe('FAILED')
    expect(hopeless.post()!.platformStatuses[0]).toMatchObject({ attemptCount: 5, errorCode: 'transient' })
  })

  describe.each([
    [30, 'a refused connection', { certain: true }],
    [300, 'a 502', { certain: false }],
  ])('after %i minutes of %s', (minutes, _failure, failure) => {
    it('a post is published once, within two minutes', async () => {
      let calls = 0
      const server = 'https://bluesky.example'
      const call = async () => {
        await post.clock.sync()
        calls += 1
        if (post.clock.now().getTime() < backAt) {
          throw new PlatformError('transient', 'Not reached', { ...failure, unreachable: server })
        }
      }
      const post: Scenario = await start({
        respond: call,
        probe: call,
        reconcile: async () => (await call(), 'absent'),
      })
      const backAt = post.clock.now().getTime() + minutes * MINUTE
      expect(await post.result()).toBe('COMPLETED')
      expect(post.sent).toHaveLength(1)
      expect(post.sent[0]!.at - backAt).toBeGreaterThanOrEqual(0)
      expect(post.sent[0]!.at - backAt).toBeLessThan(2 * MINUTE)
      expect(calls).toBeLessThan(minutes + 10)
      expect(post.post()!.platformStatuses[0]!.delivery).toMatchObject({ tries: 0, reconcileTries: 0 })
      expect(post.notifications.map(({ type }) => type)).toEqual(['success'])
    })
  })

  it('a post waits an hour for a rate limit without using a try', async () => {
    const post = await start({
      respond: async (_platform, call) => {
        if (call === 1) throw new PlatformError('rate_limited', 'Too many posts', { certain: true, retryAfterMs: HOUR })
      },
    })
    const startedAt = post.clock.now().getTime()
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent[0]!.at - startedAt).toBeGreaterThanOrEqual(HOUR)
    expect(post.post()!.platformStatuses[0]!.delivery.tries).toBe(0)
  })

  it('a lost response is reconciled for an hour, then the post fails with an unknown outcome', async () => {
    const reconciledAt: number[] = []
    const post = await start({
      respond: () => Promise.reject(new PlatformError('transient', 'The response was lost', { certain: false })),
      reconcile: async () => {
        reconciledAt.push(post.clock.now().getTime())
        return 'undecidable'
      },
    })
    expect(await post.result()).toBe('FAILED')
    expect(post.post()!.platformStatuses[0]).toMatchObject({ errorCode: 'OUTCOME_UNKNOWN', attemptCount: 1 })
    expect(reconciledAt).toHaveLength(6)
    expect(reconciledAt.at(-1)! - reconciledAt.at(-2)!).toBeGreaterThanOrEqual(HOUR)
    expect(post.notifications).toMatchObject([
      { type: 'error', message: expect.stringContaining('retry only if the post is not there') },
    ])
  })

  it('a post with an unknown outcome is sent again when its user retries it', async () => {
    const post = await start({
      respond: (_platform, call) =>
        call === 1
          ? Promise.reject(new PlatformError('transient', 'The response was lost', { certain: false }))
          : Promise.resolve(),
      reconcile: async () => 'undecidable',
    })
    expect(await post.result()).toBe('FAILED')
    expect(post.post()!.platformStatuses[0]).toMatchObject({ errorCode: 'OUTCOME_UNKNOWN' })
    await post.change(retry(), 'retry')
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
  })

  it('an unanswered call is repeated within 13 minutes, after it can no longer take effect', async () => {
    const settleMs = 10 * MINUTE
    const calls: number[] = []
    const post = await start({
      respond: async (_platform, call) => {
        calls.push(post.clock.now().getTime())
        if (call === 1) throw new PlatformError('transient', 'The response was lost', { certain: false })
      },
      reconcile: async (_post, _account, _delivery, { calledAt }) =>
        post.clock.now().getTime() - calledAt.getTime() >= settleMs ? 'absent' : 'in-flight',
    })
    expect(await post.result()).toBe('COMPLETED')
    const [first, second] = calls as [number, number]
    expect(second - first).toBeGreaterThanOrEqual(settleMs)
    expect(second - first).toBeLessThan(13 * MINUTE)
  })

  it('a platform whose activity fails permanently fails alone', async () => {
    const post = await start({
      platforms: ['bluesky'],
      activities: {
        publishBriefly: () => Promise.reject(new Error('lost')),
        publishToPlatform: () => Promise.reject(ApplicationFailure.nonRetryable('lost')),
      },
    })
    expect(await post.result()).toBe('FAILED')
    expect(post.post()!.platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'INTERNAL' })
    expect(post.notifications.map(({ type }) => type)).toEqual(['error'])
  })

  it('a worker with a slow clock sends nothing before the post is due', async () => {
    const post = await start({ dueIn: HOUR, behindMs: 5 * MINUTE })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent).toHaveLength(1)
    expect(post.sent[0]!.at).toBeGreaterThanOrEqual(post.dueAt())
    expect((await post.history()).events!.length).toBeLessThan(20)
  })

  it('a video in processing is checked again until it is ready before the post is due', async () => {
    const post = await start({
      dueIn: HOUR,
      post: { content: { text: 'Film', mediaItems: [video] } },
      prepare: async () => {
        if (post.dueAt() - post.clock.now().getTime() > 5 * MINUTE) throw stillProcessing
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    // Preparation starts ten minutes before the post is due and is tried again every half minute.
    expect(post.preparations.length).toBeGreaterThan(8)
    expect(post.sent).toHaveLength(1)
    expect(post.post()!.platformStatuses[0]).toMatchObject({ attemptCount: 1, delivery: { tries: 0 } })
    expect(post.notifications.map(({ type }) => type)).toEqual(['success'])
  })

  it('a transient failure of early preparation is retried without a warning', async () => {
    let failuresLeft = 4
    const ahead: number[] = []
    const post = await start({
      dueIn: HOUR,
      post: { content: { text: 'Film', mediaItems: [video] } },
      prepare: async () => {
        if (failuresLeft-- > 0) throw new PlatformError('transient', 'The platform is busy', { certain: true })
        ahead.push(post.dueAt() - post.clock.now().getTime())
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    expect(ahead[0]).toBeGreaterThan(MINUTE)
    expect(post.notifications.map(({ type }) => type)).toEqual(['success'])
  })

  it('an immediate post waits for video processing without using a try or delaying other platforms', async () => {
    const post = await start({
      platforms: ['mastodon', 'bluesky'],
      post: { content: { text: 'Film', mediaItems: [video] } },
      prepare: async (...args) => {
        const passed = post.clock.now().getTime() - post.dueAt()
        if (args.at(-1) === 'mastodon' && passed < 30 * MINUTE) throw stillProcessing
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.sent.map(({ platform }) => platform)).toEqual(['bluesky', 'mastodon'])
    expect(post.sent[1]!.at - post.sent[0]!.at).toBeGreaterThan(20 * MINUTE)
    expect(post.post()!.platformStatuses[0]).toMatchObject({ attemptCount: 1, delivery: { tries: 0 } })
  })

  it('a video that is not processed within an hour fails the post with a reason', async () => {
    const post = await start({
      post: { content: { text: 'Film', mediaItems: [video] } },
      prepare: () => Promise.reject(stillProcessing),
    })
    expect(await post.result()).toBe('FAILED')
    expect(post.sent).toEqual([])
    expect(post.post()!.platformStatuses[0]).toMatchObject({
      errorCode: 'media_not_ready',
      error: 'Still processing the video, more than an hour after the post was due',
    })
  })

  it('images are prepared about a minute before the post is due', async () => {
    const ahead: number[] = []
    const post = await start({
      dueIn: HOUR,
      post: { content: { text: 'Picture', mediaItems: [image] } },
      prepare: async () => {
        ahead.push(post.dueAt() - post.clock.now().getTime())
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    expect(ahead[0]).toBeGreaterThan(30 * SECOND)
    expect(ahead[0]).toBeLessThanOrEqual(MINUTE)
    expect(post.sent).toHaveLength(1)
  })

  it('a post edited after its preparation is prepared again', async () => {
    const prepared: string[] = []
    const started = Promise.withResolvers<Scenario>()
    const post = await start({
      dueIn: 50 * SECOND,
      post: { content: { text: 'First words', mediaItems: [image] } },
      prepare: async ({ content }) => {
        // The post is due so soon that the preparation may start before `start` has returned.
        const { dueAt, clock } = await started.promise
        const leftMs = dueAt() - clock.now().getTime()
        if (leftMs > 15 * SECOND) prepared.push(content.text)
      },
    })
    started.resolve(post)
    // The test server, unlike Temporal, may stop its clock when an activity ends while its cancellation is requested.
    await vi.waitFor(async () => expect(await countEndedActivities(post)).toBe(1), 10 * SECOND)
    await post.change(edit({ content: { text: 'Last words', mediaItems: [image] } }), 'changed')
    expect(await post.result()).toBe('COMPLETED')
    expect(prepared).toEqual(['First words', 'Last words'])
    expect(post.sent).toMatchObject([{ text: 'Last words' }])
  })

  it('early preparation warns the user when the delivery would fail', async () => {
    let isBroken = true
    const post = await start({
      dueIn: HOUR,
      post: { content: { text: 'Picture', mediaItems: [image] } },
      prepare: async () => {
        if (isBroken) {
          isBroken = false
          throw refused
        }
      },
    })
    expect(await post.result()).toBe('COMPLETED')
    expect(post.notifications.map(({ type }) => type)).toEqual(['warning', 'success'])
  })
})
