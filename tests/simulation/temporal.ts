import type { PublishPlan } from '../../src/domain/posts/publish-plan.ts'
import type * as DecisionsModule from '../../src/workflows/publishing/decisions.ts'
import type { DeliveryInput, DeliveryResult, PostState } from '../../src/workflows/contract/publishing.ts'
import type { Random } from '../faults/random.ts'
import type { Process, World } from './world.ts'

/** An accepted result that an attempt left in its heartbeat. */
export type HeartbeatDetails = object | null

/** The activity context of an attempt. */
export interface AttemptContext {
  /** Aborts when the workflow has cancelled the activity, or the worker is drained. */
  signal: AbortSignal
  details: HeartbeatDetails
  heartbeat(details: HeartbeatDetails): void
}

/** How an attempt ended. Without a result, it is repeated after `waitMs`, or after the usual interval. */
export type AttemptEnd = { result: DeliveryResult } | { waitMs?: number }

/** The functions of a worker that Temporal calls. */
export interface Worker {
  process: Process
  /** Resolves when the worker stops taking work. */
  draining: AbortSignal
  publish(input: DeliveryInput, context: AttemptContext): Promise<AttemptEnd>
  /** Null for a first attempt that has no result in two seconds, or needs another one. */
  publishBriefly(inputs: readonly DeliveryInput[]): Promise<(DeliveryResult | null)[]>
  readPost(postId: string, userId: string): Promise<PostState>
}

interface Workflow {
  progress: DecisionsModule.Progress
  /** Called when the post has become stale. */
  wake(): void
}

const TASK_TIMEOUT_MS = 10_000

/**
 * Temporal as the deliveries see it: one workflow per post, whose steps need a running worker, and activities that are repeated after a
 * failure, a lost worker or a missing heartbeat. The decisions are those of the workflow (`src/workflows/publishing/decisions.ts`).
 */
export function createTemporal(
  world: World,
  decisions: typeof DecisionsModule,
  { random, trace }: { random: Random; trace(event: string): void },
) {
  const workers = new Set<Worker>()
  const workflows = new Map<string, Workflow>()
  /** The attempts that are running, with what ends them for Temporal. */
  const open = new Set<{ heartbeatMs: number; lose(): void }>()
  const { sleep } = world
  const { PUBLISHING } = decisions

  /** Resolves with a worker that can take a task, once there is one. */
  async function findWorker(): Promise<Worker> {
    for (;;) {
      const free = [...workers].filter(
        ({ process, draining }) => process.isUp && !process.isFrozen && !draining.aborted,
      )
      if (world.state.temporal && free.length > 0) return random.oneOf(free)
      await sleep(200)
    }
  }

  /** Runs a step of a workflow, again after the loss of its worker. */
  async function runTask<T>(run: (worker: Worker) => Promise<T>): Promise<T> {
    for (;;) {
      const worker = await findWorker()
      await sleep(random.between(1, 10))
      const lost = worker.process.stopped.then(() => sleep(TASK_TIMEOUT_MS)).then(() => LOST)
      const failed = (error: unknown) => (trace(`a task failed: ${String(error)}`), sleep(1_000).then(() => LOST))
      const result = await Promise.race([run(worker).catch(failed), lost])
      if (result !== LOST) return result as T
    }
  }

  function start(plan: PublishPlan): void {
    const id = plan.postId
    if (workflows.has(id)) return
    trace(`the workflow of ${id} starts with revision ${plan.revision}`)
    const workflow: Workflow = { progress: decisions.toProgress(plan), wake: () => {} }
    workflows.set(id, workflow)
    void run(workflow).then((status) => {
      trace(`the workflow of ${id} ends: ${status}`)
      workflows.delete(id)
    })
  }

  async function run(workflow: Workflow): Promise<string> {
    for (;;) {
      const { plan } = workflow.progress
      if (workflow.progress.isStale) {
        workflow.progress = { ...workflow.progress, isStale: false }
        const state = await runTask((worker) => worker.readPost(plan.postId, plan.userId))
        if (workflow.progress.isStale) continue
        const next = decisions.afterRead(workflow.progress, state)
        if (!next) return state.status
        workflow.progress = next
      }
      const results = await runUntilStale(workflow)
      workflow.progress = decisions.afterDeliveries(workflow.progress, results)
      if (!workflow.progress.isStale) return decisions.findLastStatus(results)
    }
  }

  /** Runs the plan. A change meanwhile cancels the waits and waits for the calls. */
  async function runUntilStale(workflow: Workflow): Promise<DeliveryResult[]> {
    const { plan } = workflow.progress
    const cancelled = new AbortController()
    workflow.wake = () => cancelled.abort()
    if (workflow.progress.isStale) return []
    await sleepUntil(plan.armAt, cancelled.signal)
    if (cancelled.signal.aborted) return []
    const inputs = plan.platforms.map((planned) => decisions.toDeliveryInput(plan, planned))
    const first = plan.isBrief ? await runTask((worker) => worker.publishBriefly(inputs)) : []
    return Promise.all(
      inputs.map(async (input, index) => {
        const result = first[index] ?? (await runActivity(plan, input, cancelled.signal))
        return result ?? decisions.toSuperseded(plan)
      }),
    )
  }

  /** Returns null when the activity was cancelled between two attempts. */
  async function runActivity(plan: PublishPlan, input: DeliveryInput, cancelled: AbortSignal) {
    const heartbeatMs = decisions.toHeartbeatTimeout(plan.dueAt - Date.now())
    const { initialInterval, backoffCoefficient, maximumInterval } = PUBLISHING.retry
    let details: HeartbeatDetails = null
    for (let attempt = 0; ; attempt++) {
      const worker = await findWorker()
      if (cancelled.aborted) return null
      await sleep(random.between(1, 10))
      const end = await makeAttempt(worker, input, {
        heartbeatMs,
        cancelled,
        details,
        heartbeat: (next) => (details = next),
      })
      if (end && 'result' in end) return end.result
      if (cancelled.aborted) return null
      const interval = Math.min(initialInterval * backoffCoefficient ** attempt, maximumInterval)
      await sleepUntil(Date.now() + (end?.waitMs ?? interval), cancelled)
      if (cancelled.aborted) return null
    }
  }

  interface Attempt {
    heartbeatMs: number
    cancelled: AbortSignal
    details: HeartbeatDetails
    heartbeat(details: HeartbeatDetails): void
  }

  /** Returns null for an attempt whose worker was lost. What it still does has no effect here. */
  async function makeAttempt(worker: Worker, input: DeliveryInput, attempt: Attempt): Promise<AttemptEnd | null> {
    const { process } = worker
    let isOpen = true
    const cancelling = new AbortController()
    // A worker learns of a cancellation with its next heartbeat.
    const cancel = () =>
      void sleep(random.between(0, attempt.heartbeatMs)).then(() => cancelling.abort(new Error('cancelled')))
    if (attempt.cancelled.aborted) cancel()
    else attempt.cancelled.addEventListener('abort', cancel, { once: true })
    const working = worker.publish(input, {
      signal: AbortSignal.any([cancelling.signal, worker.draining]),
      details: attempt.details,
      heartbeat(details) {
        void sleep(random.between(0, 1_000)).then(() => {
          if (isOpen && process.isUp && !process.isFrozen && world.state.temporal) attempt.heartbeat(details)
        })
      },
    })
    const ended = working.then(async (end) => {
      await process.running()
      while (!world.state.temporal) await sleep(500)
      return end
    })
    const lost = Promise.withResolvers<null>()
    const running = { heartbeatMs: attempt.heartbeatMs, lose: () => lost.resolve(null) }
    open.add(running)
    const silent = (async () => {
      for (;;) {
        await process.stopped
        await sleep(attempt.heartbeatMs)
        if (!process.isUp || process.isFrozen) return null
      }
    })()
    const tooLong = sleep(PUBLISHING.startToCloseTimeout).then(() => null)
    const end = await Promise.race([ended, silent, lost.promise, tooLong])
    isOpen = false
    open.delete(running)
    if (end === null) trace(`an attempt of ${input.postId} on ${input.platform} is lost with ${process.name}`)
    return end
  }

  async function sleepUntil(instant: number, cancelled: AbortSignal): Promise<void> {
    const wait = instant - Date.now()
    if (wait <= 0 || cancelled.aborted) return
    const woken = new Promise<void>((resolve) => cancelled.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([sleep(wait), woken])
  }

  return {
    workers,
    isRunning: (postId: string): boolean => workflows.has(postId),
    start,
    /** Ends the attempts whose heartbeats were missing in an outage of Temporal. Their workers go on with them. */
    afterOutage(lastedMs: number): void {
      for (const attempt of open) if (attempt.heartbeatMs < lastedMs) attempt.lose()
    },
    /** Signals the running workflow of a post. */
    signal(postId: string, revision: number): void {
      const workflow = workflows.get(postId)
      if (!workflow) return
      workflow.progress = decisions.afterSignal(workflow.progress, revision)
      if (workflow.progress.isStale) workflow.wake()
    },
  }
}

export type Temporal = ReturnType<typeof createTemporal>

const LOST = Symbol('lost')
