import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DAY } from '../../src/domain/times.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../support/delivery-world.ts'

let world: DeliveryWorld
let temporal: Connection
let client: Client

beforeAll(async () => {
  world = await startDeliveryWorld()
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  client = new Client({ connection: temporal, namespace })
  // Twice: as `npm run setup` may be run.
  await world.context.orchestrator.ensureSchedules(DAY)
  await world.context.orchestrator.ensureSchedules(DAY)
}, 120_000)

afterAll(async () => {
  await temporal?.close()
  await world?.stop()
})

/** One run of a Schedule, as its time brings it. */
async function runOf(scheduleId: string): Promise<unknown> {
  const handle = client.schedule.getHandle(scheduleId)
  await handle.trigger()
  const { info } = await poll(
    () => handle.describe(),
    (described) => described.info.recentActions.length > 0,
  )
  const { workflow } = info.recentActions.at(-1)!.action
  return client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId).result()
}

it('renewTokens renews a session of Bluesky that comes to its end', async () => {
  const { userId } = await world.user()
  const { connection } = world.context.database
  const accounts = connection.collection('platformAccounts')
  await accounts.updateOne({ userId }, { $set: { 'bluesky.auth.endsAt': new Date(Date.now() + 5 * DAY) } })
  expect(await runOf('renewTokens')).toEqual({ renewed: 1, warned: 0 })
  const account = await world.context.accounts.findConnected(userId, 'bluesky')
  expect(account!.auth.endsAt!.getTime()).toBeGreaterThan(Date.now() + 60 * DAY)
  expect(account!.version).toBe(2)
})
