import { WorkflowFailedError, WorkflowNotFoundError, type WorkflowSignalWithStartOptions } from '@temporalio/client'
import { toPublishPlan } from '../../domain/posts/publish-plan.ts'
import type { Post } from '../../domain/posts/post.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { BACKGROUND_WORK, type BackgroundWork } from '../../workflows/contract/background-work.ts'
import {
  REFRESH_TIMEOUT_MS,
  refreshWorkflowId,
  type RefreshInput,
  type RefreshOutcome,
} from '../../workflows/contract/analytics.ts'
import { paymentEventSignal, SUBSCRIPTION_SUMMARY, type PaymentEventRef } from '../../workflows/contract/billing.ts'
import { IMPORT_SUMMARY, wakeImportSignal } from '../../workflows/contract/imports.ts'
import { PUBLISH_SIGNALS, publishPostWorkflowId, type PublishSignal } from '../../workflows/contract/publishing.ts'
import type { TaskQueue } from '../../workflows/contract/task-queues.ts'
import { CALL_DEADLINE_MS, type TemporalClient } from './client.ts'
import { createAttributedStart, toAttributes } from './search-attributes.ts'
import { toStartOptions, toWorkOptions, type WorkOptions } from './workflow-options.ts'

interface StartsOptions {
  /** Called when workflows of posts start without search attributes because Temporal does not know them. */
  onUnknownAttributes: (error: unknown) => void
}

export interface StartOptions {
  /** The time for Temporal's acknowledgement, milliseconds; a second by default. Callers without a waiting client may pass more. */
  deadlineMs?: number
  /** The share of the user, 1 by default (ADR "Users share limited resources in turns"). */
  weight?: number
}

/** Starts workflows and signals running ones. */
export function createStarts(client: TemporalClient, { onUnknownAttributes }: StartsOptions) {
  const { workflows, bounded, acknowledged } = client
  const startTagged = createAttributedStart(onUnknownAttributes)

  return {
    /**
     * Starts the post's workflow, or joins the running one. Returns true when Temporal acknowledged in time or there is nothing to
     * deliver, else false. Never throws.
     */
    async start(post: Post, { deadlineMs = CALL_DEADLINE_MS, weight = 1 }: StartOptions = {}): Promise<boolean> {
      const plan = toPublishPlan(post)
      if (!plan) return true
      return acknowledged(
        () =>
          startTagged(toAttributes(post, plan), (tags) =>
            workflows.start('publishPost', { ...toStartOptions(post, plan, weight), ...tags, args: [plan] }),
          ),
        deadlineMs,
      )
    },

    /** Signals a change to the post's workflow; `retry` and `changed` start it when it does not run. Returns as `start` does. */
    async signal(post: Post, signal: PublishSignal): Promise<boolean> {
      const plan = toPublishPlan(post)
      if (signal === 'cancel' || !plan) {
        return acknowledged(async () => {
          try {
            await workflows.getHandle(publishPostWorkflowId(post._id)).signal(PUBLISH_SIGNALS[signal], post.revision)
          } catch (error) {
            if (!(error instanceof WorkflowNotFoundError)) throw error
          }
        })
      }
      const options: WorkflowSignalWithStartOptions<[number]> = {
        ...toStartOptions(post, plan),
        signal: PUBLISH_SIGNALS[signal],
        signalArgs: [post.revision],
      }
      return acknowledged(() =>
        startTagged(toAttributes(post, plan), (tags) =>
          workflows.signalWithStart('publishPost', { ...options, ...tags, args: [plan] }),
        ),
      )
    },

    /** Starts background work for the record with this id, or joins and signals the running one. Returns as `start` does. */
    startWork(work: BackgroundWork, id: string, options: WorkOptions): Promise<boolean> {
      const { args, ...start } = toWorkOptions(work, id, options)
      const described = BACKGROUND_WORK[work]
      const signal = 'signal' in described ? described.signal : undefined
      return acknowledged(() =>
        signal === undefined
          ? workflows.start(work, { ...start, args })
          : workflows.signalWithStart(work, { ...start, args, signal }),
      )
    },

    /** Starts the workflow that creates the posts of an import, or makes the running one read it again. Returns as `start` does. */
    wakeImport(importId: string, userId: string): Promise<boolean> {
      const options = toWorkOptions('applyImport', importId, { summary: IMPORT_SUMMARY, fairnessKey: userId })
      return acknowledged(() =>
        workflows.signalWithStart('applyImport', { ...options, signal: wakeImportSignal, signalArgs: [] }),
      )
    },

    /** Signals an event to the user's subscription workflow, and starts it when it does not run. Returns as `start` does. */
    notifySubscription(userId: string, event: PaymentEventRef): Promise<boolean> {
      const options = toWorkOptions('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
      return acknowledged(() =>
        workflows.signalWithStart('subscription', { ...options, signal: paymentEventSignal, signalArgs: [event] }),
      )
    },

    /**
     * Fetches the metrics of a post now, or joins the run that does. Returns `unknown`, and never throws, when the outcome is not
     * known within `waitMs`.
     */
    async refreshMetrics(input: RefreshInput, waitMs: number): Promise<RefreshOutcome> {
      const until = Date.now() + waitMs
      const workflowId = refreshWorkflowId(input)
      const start = () =>
        workflows.start('refreshMetrics', {
          workflowId,
          taskQueue: 'analytics' satisfies TaskQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          workflowRunTimeout: REFRESH_TIMEOUT_MS,
          staticSummary: `Fresh metrics from ${platformLabel(input.platform)}`,
          args: [input],
        })
      if (!(await acknowledged(start, waitMs))) return 'unknown'
      try {
        const result = () => workflows.getHandle(workflowId).result() as Promise<boolean>
        return (await bounded(result, Math.max(1, until - Date.now()))) ? 'fresh' : 'failed'
      } catch (error) {
        // A failed workflow means that the platform was slow or refused, not that Temporal failed.
        return error instanceof WorkflowFailedError ? 'failed' : 'unknown'
      }
    },

    /**
     * Starts the workflow that restarts all open posts, or joins the running one.
     * @throws when Temporal does not answer within a second
     */
    async restartPosts(): Promise<void> {
      await bounded(() =>
        workflows.start('restartPosts', {
          workflowId: 'restartPosts',
          taskQueue: 'maintenance' satisfies TaskQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          staticSummary: "Restart all open posts after a loss of Temporal's data",
          args: [],
        }),
      )
    },
  }
}
