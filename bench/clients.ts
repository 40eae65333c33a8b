import { Connection, WorkflowClient } from '@temporalio/client'
import type { Config } from '../src/config/schema.ts'

/** A client of the run's Temporal, for baselines and for looking at workflows. */
export async function openWorkflows(config: Config) {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  return {
    workflows: new WorkflowClient({ connection, namespace: config.TEMPORAL_NAMESPACE }),
    close: () => connection.close(),
  }
}
