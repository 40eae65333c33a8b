import { Connection, WorkflowClient } from '@temporalio/client'
import type { Config } from '../src/config.ts'

/** A client of the run's Temporal, for baselines and for looking at workflows. */
export async function openWorkflows(config: Config) {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  return {
    workflows: new WorkflowClient({ connection, namespace: config.TEMPORAL_NAMESPACE }),
    close: () => connection.close(),
  }
}

/** Runs the work again and again, so many at a time; returns when all are done. */
export async function closedLoop(
  count: number,
  inFlight: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}
