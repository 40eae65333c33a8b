import { Client, Connection } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import { startPayments } from '../../../sandbox/services/payments.ts'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import type { Config } from '../../../src/config/schema.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import type { User } from '../../../src/domain/users/user.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { backgroundWorkflowId } from '../../../src/workflows/contract/background-work.ts'
import { apiWorld, signIn, type SignedIn } from '../../support/api.ts'
import { controlOf } from '../../support/platform-control.ts'
import { poll } from '../../support/service-in-process.ts'

export interface Customer extends SignedIn {
  userId: string
  customerId: string
  subscriptionId: string
}

/** The API and its workers with a payment processor of their own, which sends webhooks to the API. */
export async function startBillingService(overrides: Partial<Config> = {}, parts: Parameters<typeof apiWorld>[1] = {}) {
  const processor = await startPayments({ workMs: 0, webhookRetryDelaysMs: [100, 300, 1_000, 3_000, 10_000] })
  const settings = processor.env('http://127.0.0.1:9') as Partial<Config>
  processor.setEndpoints([])
  const { context, app, close } = await apiWorld(
    { ...settings, PAYMENTS_TIMEOUT_MS: 3_000, WORKER_QUEUES: 'billing,maintenance', ...overrides },
    parts,
  )
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = context.config
  const connection = await Connection.connect({ address })
  const client = new Client({ connection, namespace })
  const webhook = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/payments/webhook`
  processor.setEndpoints([webhook])
  let workers: Awaited<ReturnType<typeof startWorkers>> | null = null

  const recordOf = async (userId: string): Promise<User> => (await context.users.findById(userId))!
  const call = async ({ headers }: SignedIn, path: string) => {
    const response = await app.inject({ method: 'POST', url: `/api/payments/${path}`, headers })
    if (response.statusCode !== 200) throw new Error(`${path} was answered with ${response.body}`)
  }

  return {
    context,
    app,
    client,
    processor,
    controls: processor.processor,
    faults: controlOf(processor.control),
    recordOf,
    call,
    signIn: () => signIn(context),

    /** Creates a user with an open checkout. */
    async atCheckout() {
      const who = await signIn(context)
      await call(who, 'create-checkout')
      const { checkoutId } = (await recordOf(who.user._id)).billing
      return { ...who, userId: who.user._id, checkoutId: checkoutId! }
    },

    /** Creates a paying user. */
    async customer(): Promise<Customer> {
      const who = await this.atCheckout()
      const { customerId, subscriptionId } = processor.processor.pay(who.checkoutId)
      await this.until(who.userId, ({ subscription }) => subscription.plan === 'pro')
      return { ...who, customerId: customerId!, subscriptionId: subscriptionId! }
    },

    until: (userId: string, fits: (user: User) => boolean, timeoutMs?: number) =>
      poll(() => recordOf(userId), fits, timeoutMs),

    /** Runs the sweeper with a clock that is this far ahead. */
    sweep(aheadMs: number): Promise<{ restarted: number }> {
      const clock = { ...context.clock, now: () => new Date(Date.now() + aheadMs) }
      const { sweepDeliveries } = createSweepActivities({ ...context, clock })
      return new MockActivityEnvironment().run<[], { restarted: number }, typeof sweepDeliveries>(sweepDeliveries)
    },

    /**
     * Resolves when every received event is processed. Sweeps meanwhile, because Temporal may not acknowledge a start in time on a
     * slow machine, and a workflow that a test terminates takes its events with it. Does not sweep for workers in other processes.
     */
    async untilSettled(timeoutMs?: number): Promise<void> {
      const waiting = () => context.database.connection.collection('paymentEvents').countDocuments({ state: 'waiting' })
      const sweepAndCount = async () => {
        if ((await waiting()) > 0 && workers) await this.sweep(HOUR)
        return waiting()
      }
      await poll(sweepAndCount, (count) => count === 0, timeoutMs)
    },

    workflowOf: (userId: string) => client.workflow.getHandle(backgroundWorkflowId('subscription', userId)),

    async detailsOf(userId: string): Promise<string> {
      const metadata = await this.workflowOf(userId).query<{ currentDetails: string }>('__temporal_workflow_metadata')
      return metadata.currentDetails
    },

    async startWorkers(): Promise<void> {
      workers = await startWorkers(context)
    },

    async stopWorkers(): Promise<void> {
      await workers?.stop()
      workers = null
    },

    async stop(): Promise<void> {
      processor.setEndpoints([])
      await workers?.stop()
      await connection.close()
      await close()
      await processor.stop()
    },
  }
}

export type BillingService = Awaited<ReturnType<typeof startBillingService>>
