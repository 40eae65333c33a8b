import fc from 'fast-check'
import { expect, it } from 'vitest'
import { failure } from '../../../../src/domain/posts/failure.ts'
import {
  accept,
  ClaimRefused,
  defer,
  giveUp,
  markAbsent,
  markDeleted,
  markUnknown,
  refuse,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { findEntry, hasBegun, needsReconciliation, rollUp } from '../../../../src/domain/posts/post-entries.ts'
import { cancel, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { AttemptRef, Move, Post } from '../../../../src/domain/posts/post.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { ServiceError } from '../../../../src/domain/shared/service-error.ts'
import { deriveEvents, createFirstEvent, type TimelineEvent } from '../../../../src/domain/posts/timeline.ts'
import { after, buildPost, buildClaim, T0 } from '../../../support/posts.ts'

const PLATFORMS: Platform[] = ['bluesky', 'mastodon', 'tumblr']
const WORKERS = 3
const DEADLINE_MS = 8_000
const LEASE_MS = 10_000
const reason = failure('transient', 'busy')

/** The state of a worker between two steps of an attempt. A crash loses it. */
interface WorkerState {
  platform: Platform
  from: AttemptRef
  leaseUntil: Date
  answer?: 'accepted' | 'refused' | 'busy' | 'lost'
}

type Action =
  | { do: 'attempt'; worker: number; platform: Platform; isStale: boolean }
  | { do: 'call'; worker: number; answer: 'accepted' | 'refused' | 'busy' | 'lost' | 'lost-before' }
  | { do: 'record'; worker: number }
  | { do: 'crash'; worker: number }
  | { do: 'pass'; ms: number }
  | { do: 'cancel' | 'retry' }
  | { do: 'edit'; delayMs: number | null; text: string | null }
  | { do: 'giveUp' | 'markDeleted'; platform: Platform }

const worker = fc.nat({ max: WORKERS - 1 })
const platform = fc.constantFrom(...PLATFORMS)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('attempt' as const), worker, platform, isStale: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      worker,
      answer: fc.constantFrom('accepted', 'refused', 'busy', 'lost', 'lost-before' as const),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('record' as const), worker }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), worker }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 500, 1_000, 5_000, 10_000, 60_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'retry' as const, 'retry' as const, 'retry' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      delayMs: fc.constantFrom(null, 1_000, 30_000),
      text: fc.constantFrom(null, 'Other words'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('giveUp' as const), platform }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('markDeleted' as const), platform }) },
)

const actions = fc.array(action, { minLength: 20, maxLength: 200, size: 'max' })

/**
 * Runs workers that attempt, call, record and crash in any order against a platform without idempotency keys, while a user
 * cancels, edits and retries. The steps are those of the delivery activity.
 */
function runActions(platforms: Platform[], actions: Action[]) {
  let post = buildPost({ selectedPlatforms: platforms, scheduledAt: after(T0, 2_000) })
  let now = T0
  const workers: (WorkerState | null)[] = Array.from({ length: WORKERS }, () => null)
  const ledger: Platform[] = []
  let cancelled = false

  const isOnPlatform = (name: Platform) => ledger.includes(name)

  const timeline: TimelineEvent[] = [createFirstEvent(post)]

  function move(change: Move): boolean {
    try {
      const before = post
      post = change(post, now)
      if (post !== before) timeline.push(...deriveEvents(before, post, now))
      return true
    } catch (error) {
      if (error instanceof ClaimRefused || error instanceof ServiceError) return false
      throw error
    }
  }

  /** Starts an attempt. With a stale read the worker skips its checks, so that only the claim prevents a second call. */
  function attempt(index: number, name: Platform, isStale: boolean): void {
    const entry = findEntry(post, name)!
    const { round, attempt: number, leaseUntil } = entry.delivery
    if (!isStale && leaseUntil && leaseUntil > now) return
    if (!isStale && needsReconciliation(entry.delivery, now) && entry.status !== 'failed') {
      if (isOnPlatform(name)) move(accept(name, { platformPostId: name, platformPostUrl: `https://${name}` }))
      else move(markAbsent(name, { round, attempt: number }))
      return
    }
    if (!move(buildClaim(post, name, now, LEASE_MS))) return
    const { delivery } = findEntry(post, name)!
    workers[index] = { platform: name, from: { round, attempt: delivery.attempt }, leaseUntil: delivery.leaseUntil! }
  }

  function call(index: number, answer: Extract<Action, { do: 'call' }>['answer']): void {
    const state = workers[index]
    if (!state || state.answer) return
    if (state.leaseUntil.getTime() - now.getTime() < DEADLINE_MS) {
      state.answer = 'busy'
      return
    }
    if (answer === 'accepted' || answer === 'lost') {
      expect(cancelled, 'I3: a visible call after an acknowledged cancel').toBe(false)
      expect(now >= post.dueAt!, 'I3: a visible call before the due time').toBe(true)
      ledger.push(state.platform)
    }
    state.answer = answer === 'lost-before' ? 'lost' : answer
  }

  function record(index: number): void {
    const state = workers[index]
    if (!state?.answer) return
    workers[index] = null
    const { platform: name, from } = state
    if (state.answer === 'accepted') move(accept(name, { platformPostId: name, platformPostUrl: `https://${name}` }))
    if (state.answer === 'refused') move(refuse(name, reason, from))
    if (state.answer === 'busy') move(defer(name, reason, from, { at: after(now, 1_000), countsAsTry: true }))
    if (state.answer === 'lost') move(markUnknown(name, reason, from))
  }

  for (const step of actions) {
    const before = post
    if ('platform' in step && !platforms.includes(step.platform)) continue
    if (step.do === 'attempt') attempt(step.worker, step.platform, step.isStale)
    if (step.do === 'call') call(step.worker, step.answer)
    if (step.do === 'record') record(step.worker)
    if (step.do === 'crash') workers[step.worker] = null
    if (step.do === 'pass') now = after(now, step.ms)
    if (step.do === 'cancel') cancelled = move(cancel()) || cancelled
    if (step.do === 'retry') move(retry())
    if (step.do === 'edit') {
      const content = step.text === null ? {} : { content: { text: step.text, mediaItems: [] } }
      move(edit({ scheduledAt: step.delayMs === null ? null : after(now, step.delayMs), ...content }))
    }
    // Only a platform that has the post can report it as deleted.
    if (step.do === 'markDeleted' && isOnPlatform(step.platform)) move(markDeleted(step.platform))
    if (step.do === 'giveUp') move(giveUp(step.platform, reason, findEntry(post, step.platform)!.delivery.round))
    expectInvariants(before, post)
  }
  return { post, ledger, timeline }
}

function expectInvariants(before: Post, post: Post): void {
  if (hasBegun(post)) expect(post.status, 'I5').toBe(rollUp(post.platformStatuses))
  else
    expect(
      post.platformStatuses.every(({ status }) => status === 'pending'),
      'I5',
    ).toBe(true)
  if (before.status === 'CANCELLED') expect(post.status).toBe('CANCELLED')
  for (const entry of before.platformStatuses) {
    const { status } = findEntry(post, entry.platform)!
    if (entry.status === 'completed') expect(['completed', 'deleted']).toContain(status)
    if (entry.status === 'deleted') expect(status).toBe('deleted')
  }
}

it('invariants I1, I3 and I5 hold under random interleavings of workers, crashes, cancels, edits and retries', () => {
  fc.assert(
    fc.property(fc.subarray(PLATFORMS, { minLength: 1 }), actions, (platforms, steps) => {
      const { post, ledger } = runActions(platforms, steps)
      for (const name of platforms) {
        const times = ledger.filter((entry) => entry === name).length
        expect(times, 'I1: accepted effects per platform').toBeLessThanOrEqual(1)
        if (['completed', 'deleted'].includes(findEntry(post, name)!.status)) expect(times).toBe(1)
      }
    }),
    { numRuns: 2_000 },
  )
})

it('the timeline contains every status, attempt, retry and end of random interleavings', () => {
  fc.assert(
    fc.property(fc.subarray(PLATFORMS, { minLength: 1 }), actions, (platforms, steps) => {
      const { post, timeline } = runActions(platforms, steps)
      const findEvents = (fields: Partial<TimelineEvent>) =>
        timeline.filter((event) => Object.entries(fields).every(([name, value]) => event[name as 'type'] === value))
      expect(findEvents({ type: 'transition' }).at(-1)).toMatchObject({ status: post.status })
      for (const { platform: name, status, errorCode, delivery } of post.platformStatuses) {
        expect(findEvents({ platform: name, type: 'attempt' })).toHaveLength(delivery.attempt)
        expect(findEvents({ platform: name, type: 'retry' })).toHaveLength(delivery.round)
        const [last] = findEvents({ platform: name, type: 'outcome' }).slice(-1)
        if (status === 'completed') expect(last).toMatchObject({ result: 'accepted' })
        if (status === 'deleted') expect(last).toMatchObject({ result: 'deleted' })
        if (status === 'failed') expect(last).toMatchObject({ code: errorCode, round: delivery.round })
      }
    }),
    { numRuns: 500 },
  )
})
