import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client'
import { SECOND } from '../../domain/shared/times.ts'
import type { TemporalClient } from './client.ts'
import { listOpenPosts } from './search-attributes.ts'

const TERMINATE_DEADLINE_MS = 3 * SECOND

/**
 * Failed attempts of one workflow task after which the execution counts as stuck. A killed or redeployed worker costs one
 * attempt; code that cannot replay the history fails every attempt.
 */
const STUCK_AFTER_ATTEMPTS = 3

export interface StuckWorkflow {
  type: string
  workflowId: string
  runId: string
  /** The number of attempts of its current workflow task. */
  attempts: number
}

interface StuckWorkflowsOptions {
  /** Called with each workflow that `terminateStuck` ended. */
  onTerminated: (workflow: StuckWorkflow) => void
}

/** Finds and terminates workflows that no longer make progress. */
export function createStuckWorkflows(client: TemporalClient, { onTerminated }: StuckWorkflowsOptions) {
  const { workflows, bounded, onUnreachable } = client

  return {
    /**
     * The ids of some open post workflows whose post was due before `dueBefore`. Empty, and never an error, when Temporal does not
     * answer or does not know the search attributes.
     */
    async listOverdue(dueBefore: Date, limit: number): Promise<string[]> {
      try {
        return await bounded(() => listOpenPosts(workflows, dueBefore, limit))
      } catch {
        return []
      }
    },

    /**
     * Terminates the workflow with this id if its workflow tasks keep failing, so that the next start begins a new execution instead
     * of joining it. MongoDB records what was done, so nothing is done twice. Returns false, and never throws, when the workflow is
     * healthy or not open, or Temporal does not answer within three seconds.
     */
    async terminateStuck(workflowId: string): Promise<boolean> {
      try {
        const terminated = await bounded(() => terminateIfStuck(workflows, workflowId), TERMINATE_DEADLINE_MS)
        if (terminated) onTerminated(terminated)
        return terminated !== null
      } catch (error) {
        onUnreachable(error)
        return false
      }
    },
  }
}

/**
 * Terminates the open execution of this id if its workflow tasks keep failing, because only another release or a new execution
 * resolves that.
 * @returns the terminated execution, or null if it is healthy or none is open
 */
async function terminateIfStuck(workflows: WorkflowClient, workflowId: string): Promise<StuckWorkflow | null> {
  try {
    const { type, runId, raw } = await workflows.getHandle(workflowId).describe()
    // Present while a workflow task is scheduled or running; a closed execution has none.
    const attempts = raw.pendingWorkflowTask?.attempt ?? 0
    if (attempts < STUCK_AFTER_ATTEMPTS) return null
    await workflows.getHandle(workflowId, runId).terminate(`Its workflow task failed ${attempts - 1} times in a row`)
    return { type, workflowId, runId, attempts }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null
    throw error
  }
}
