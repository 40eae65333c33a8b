import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client'

/**
 * Failed attempts of one workflow task after which the execution counts as stuck. A worker that is killed or deployed costs one
 * attempt; code that cannot replay the history fails every attempt.
 */
const STUCK_AFTER_ATTEMPTS = 3

export interface StuckWorkflow {
  type: string
  workflowId: string
  runId: string
  /** How often its current workflow task was attempted. */
  attempts: number
}

/**
 * Terminates the open execution of this id if its workflow tasks keep failing, which only another release or a new execution ends.
 * Returns what was terminated, or null if the execution is healthy or none is open.
 */
export async function terminateIfStuck(workflows: WorkflowClient, workflowId: string): Promise<StuckWorkflow | null> {
  try {
    const { type, runId, raw } = await workflows.getHandle(workflowId).describe()
    // Present while a workflow task is scheduled or running, so a closed execution has none.
    const attempts = raw.pendingWorkflowTask?.attempt ?? 0
    if (attempts < STUCK_AFTER_ATTEMPTS) return null
    await workflows.getHandle(workflowId, runId).terminate(`Its workflow task failed ${attempts - 1} times in a row`)
    return { type, workflowId, runId, attempts }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null
    throw error
  }
}
