import { Client, Connection } from '@temporalio/client'
import { startMailCatcher } from '../../../sandbox/services/mail.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { Mail } from '../../../src/store/notifications/mails.ts'
import { poll, startServiceInProcess } from '../../support/service-in-process.ts'
import { testContext } from '../../support/servers.ts'

/** The API, a worker that sends mails, and a mail server that stores them all. */
export async function startMailWorld(overrides: Partial<Config> = {}, parts: Parameters<typeof testContext>[1] = {}) {
  const catcher = await startMailCatcher()
  const context = await testContext({ ...catcher.env(), WORKER_QUEUES: 'notifying', ...overrides }, parts)
  const service = await startServiceInProcess(context)
  return {
    ...service,
    catcher,
    /** Resolves when no mail is waiting. */
    untilEnded: () =>
      poll(
        () => context.database.connection.collection<Mail>('mails').countDocuments({ state: 'waiting' }),
        (waiting) => waiting === 0,
      ),

    /** Resolves with the outcome of the mail's workflow. */
    async outcomeOf(mailId: string): Promise<unknown> {
      const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = context.config
      const connection = await Connection.connect({ address })
      try {
        return await new Client({ connection, namespace }).workflow.getHandle(`mail/${mailId}`).result()
      } finally {
        await connection.close()
      }
    },

    async stop(): Promise<void> {
      await service.stop()
      await catcher.stop()
    },
  }
}
