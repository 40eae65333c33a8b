import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type NativeConnectionOptions,
  type WorkerOptions,
} from '@temporalio/worker'
import { Pool } from 'undici'
import { serve, setting } from '../processes.ts'

// This process is the baseline: a Temporal worker with the settings and the task queue of the service's worker. It loads nothing of the
// service, not even its configuration, so that its memory and start time are those of a bare process.

const receiver = process.env['BENCH_RECEIVER']
const pool = receiver === undefined ? null : new Pool(receiver, { connections: 64 })

const activities = {
  async doNothing(): Promise<void> {},
  /** Makes the visible call, like a service without records. */
  async stamp(id: string): Promise<void> {
    const response = await pool?.request({ method: 'POST', path: `/${id}` })
    await response?.body.dump()
  },
}
export type BareActivities = typeof activities

Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
const connection = await NativeConnection.connect({
  address: setting('TEMPORAL_ADDRESS'),
  ...(JSON.parse(setting('BENCH_CONNECTION')) as Partial<NativeConnectionOptions>),
})
const worker = await Worker.create({
  connection,
  namespace: setting('TEMPORAL_NAMESPACE'),
  taskQueue: 'publishing',
  activities,
  workflowBundle: { codePath: setting('BENCH_BUNDLE') },
  ...(JSON.parse(setting('BENCH_WORKER_OPTIONS')) as Partial<WorkerOptions>),
})
const ended = worker.run()

serve('ready', async () => {
  worker.shutdown()
  await ended
  await connection.close()
  await pool?.close()
})
