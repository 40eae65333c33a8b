import { Connection, WorkflowClient } from '@temporalio/client'
import type { Config } from '../src/config/schema.ts'

/** Opens a client of the run's Temporal, for baselines and for inspecting workflows. */
export async function openWorkflows(config: Config) {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  return {
    workflows: new WorkflowClient({ connection, namespace: config.TEMPORAL_NAMESPACE }),
    close: () => connection.close(),
  }
}
