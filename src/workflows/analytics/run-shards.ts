import { ApplicationFailure, isCancellation, workflowInfo } from '@temporalio/workflow'
import type { CollectionShard } from '../contract/analytics.ts'

type Totals<Name extends string> = Record<Name, number>

interface ShardOptions {
  workflowId: string
  staticSummary: string
}

/**
 * Runs each shard as a child workflow, so that all workers share the work, and adds up their totals.
 * @param start starts the child workflow and waits for its totals
 * @throws a failure with the totals and the number of failed shards, after the others have ended
 */
export async function runShards<Name extends string, Shard extends CollectionShard>(
  shards: Shard[],
  none: Totals<Name>,
  start: (shard: Shard, options: ShardOptions) => Promise<Totals<Name>>,
): Promise<Totals<Name>> {
  const { workflowId } = workflowInfo()
  const results = await Promise.allSettled(
    shards.map((shard, index) => start(shard, { workflowId: `${workflowId}/${index}`, staticSummary: shard.name })),
  )
  const totals = { ...none }
  let failed = 0
  for (const result of results) {
    if (result.status === 'fulfilled') {
      for (const name of Object.keys(totals) as Name[]) totals[name] += result.value[name]
    } else {
      if (isCancellation(result.reason)) throw result.reason
      failed += 1
    }
  }
  if (failed > 0) {
    throw ApplicationFailure.nonRetryable(`${failed} of ${shards.length} shards failed`, 'ShardsFailed', totals)
  }
  return totals
}
