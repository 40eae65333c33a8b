import { isGrpcServiceError } from '@temporalio/client'
import { SECOND } from '../../domain/shared/times.ts'
import type { TemporalClient } from './client.ts'

const ERASE_DEADLINE_MS = 20 * SECOND
/** gRPC: not found, permission denied, unimplemented. */
const NOTHING_TO_DELETE = new Set<number>([5, 7, 12])

/** Deletes workflow histories. */
export function createErase({ connection, namespace, workflows, bounded }: TemporalClient) {
  return {
    /**
     * Deletes the histories of these workflows, and thereby ends those that still run. On a server that forbids deletion the
     * histories stay; they hold ids only.
     */
    async deleteWorkflows(ids: string[]): Promise<void> {
      await bounded(async () => {
        // The list of runs is eventually consistent; an empty run id names the latest run directly.
        const runs = ids.map((workflowId) => ({ workflowId, runId: '' }))
        const query = `WorkflowId IN (${ids.map((id) => `'${id}'`).join(', ')})`
        for await (const { workflowId, runId } of workflows.list({ query })) runs.push({ workflowId, runId })
        await Promise.all(runs.map(deleteRun))
      }, ERASE_DEADLINE_MS)
    },
  }

  async function deleteRun(workflowExecution: { workflowId: string; runId: string }): Promise<void> {
    try {
      await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution })
    } catch (error) {
      if (!isGrpcServiceError(error) || !NOTHING_TO_DELETE.has(error.code)) throw error
    }
  }
}
