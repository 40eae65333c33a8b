import { fileURLToPath } from 'node:url'
import { NativeConnection, Runtime, DefaultLogger, Worker } from '@temporalio/worker'
import { Pool } from 'undici'
import { readConfig } from '../../src/config.ts'
import { workerShape } from '../../src/workers.ts'
import { serve } from '../processes.ts'

/** The baseline: nothing but Temporal, with the settings and on the task queue of the service's own worker. */
const config = readConfig(process.env)
const receiver = process.env['BENCH_RECEIVER']
const pool = receiver === undefined ? null : new Pool(receiver, { connections: 64 })

const activities = {
  async doNothing(): Promise<void> {},
  /** The visible call of a service that keeps no records. */
  async stamp(id: string): Promise<void> {
    const answer = await pool?.request({ method: 'POST', path: `/${id}` })
    await answer?.body.dump()
  },
}
export type BareActivities = typeof activities

Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS })
const worker = await Worker.create({
  connection,
  namespace: config.TEMPORAL_NAMESPACE,
  taskQueue: 'publishing',
  activities,
  ...workerShape('publishing', config.WORKER_ACTIVITY_SLOTS, {
    workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
  }),
})
const ended = worker.run()

serve('ready', async () => {
  worker.shutdown()
  await ended
  await connection.close()
  await pool?.close()
})
