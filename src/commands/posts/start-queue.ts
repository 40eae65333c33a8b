import { withDeadline } from '../../flow/deadlines.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import type { Post } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PlanWeights, SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { Parts } from '../parts.ts'
import type { StartOptions } from '../../integrations/temporal/start.ts'

/** More concurrent starts take Temporal longer each, and start no more workflows per second. */
const CONCURRENT_STARTS = 50
/** Some 10 s of starts on two processor cores. */
const MAX_QUEUED = 1_000
/** Outlasts a short stall of Temporal, which would otherwise leave the post to the sweeper for half a minute. */
const START_DEADLINE_MS = 5 * SECOND
/** The wait of a create for a turn in a full queue, and then for Temporal. */
const FULL_WAIT_MS = SECOND
const DRAIN_DEADLINE_MS = 5 * SECOND

interface StartQueueSizes {
  concurrent?: number
  queued?: number
  drainMs?: number
}

/**
 * Starts the workflows of new posts after their requests are answered. Users take turns. The sweeper starts what Temporal does not
 * acknowledge, or what a crash takes from memory.
 * @param planWeights starts per turn of a user
 */
export function createStartQueue(parts: Parts, planWeights: PlanWeights, sizes: StartQueueSizes = {}) {
  const { posts, orchestrator, metrics, logger } = parts
  const { concurrent = CONCURRENT_STARTS, queued: maxQueued = MAX_QUEUED, drainMs = DRAIN_DEADLINE_MS } = sizes
  const takeTurn = createFairLimit({ maxRunning: concurrent })
  const queued = new Set<Promise<void>>()
  let isClosed = false

  /** @param signal ends the wait for a turn */
  async function enqueue(post: Post, options: Required<StartOptions>, signal?: AbortSignal): Promise<void> {
    const turn = takeTurn(post.userId, () => start(post, options), { signal, weight: options.weight })
    queued.add(turn)
    metrics.startsQueued(queued.size)
    await Promise.allSettled([turn])
    queued.delete(turn)
    metrics.startsQueued(queued.size)
  }

  async function start(post: Post, options: Required<StartOptions>): Promise<void> {
    if (isClosed || !(await orchestrator.start(post, options)) || !post.startPending) return
    try {
      if (!(await posts.acknowledgeStart(post))) await endIfCancelled(post)
    } catch (error) {
      logger.warn({ err: error, postId: post._id }, 'workflow start not recorded')
    }
  }

  /** A cancel or a delete that came before the start found no workflow. An edit has signalled it, or started it. */
  async function endIfCancelled(post: Post): Promise<void> {
    const current = await posts.find(post._id, post.userId)
    if (current && current.status !== 'CANCELLED') return
    await orchestrator.signal(current ?? { ...post, revision: post.revision + 1 }, 'cancel')
  }

  /** Resolves when every post that is queued now was started, or left to the sweeper. */
  async function idle(): Promise<void> {
    await Promise.allSettled(queued)
  }

  return {
    /** Resolves when the post is queued: while the queue is full, after its start or after two seconds. Never fails. */
    async add(post: Post, plan: SubscriptionPlan = 'free'): Promise<void> {
      const weight = planWeights[plan]
      if (queued.size < maxQueued) void enqueue(post, { weight, deadlineMs: START_DEADLINE_MS })
      else await enqueue(post, { weight, deadlineMs: FULL_WAIT_MS }, AbortSignal.timeout(FULL_WAIT_MS))
    },

    idle,

    /** Waits for the queued starts, for a few seconds at most. The sweeper starts the rest. */
    async close(): Promise<void> {
      await withDeadline(idle(), drainMs, () => new Error('starts take too long')).catch(() => {})
      isClosed = true
    },
  }
}

export type StartQueue = ReturnType<typeof createStartQueue>
