import type { Config } from '../../src/config/schema.ts'
import { controlOf, type LedgerEntry } from './platform-control.ts'
import { testContext, unique } from './servers.ts'
import { startServiceInProcess } from './service-in-process.ts'
import { workerBluesky } from './worker-bluesky.ts'

export { poll, type PostStatusData } from './service-in-process.ts'

/** Disables the rate limits, which count all requests of a test file. */
export const NO_LIMITS = { RATE_LIMIT_PER_USER: 100_000, RATE_LIMIT_PER_ADDRESS: 100_000 }

/** The task queues that deliver posts. Each worker with workflows takes 0.4 s of processor time to start. */
export const DELIVERING = { WORKER_QUEUES: 'publishing,preparing' }
/** All task queues. */
export const ALL_QUEUES = { WORKER_QUEUES: '' }

/**
 * Starts the API and the workers that deliver posts in this process, on the servers of the test run. Faults of its Bluesky server do not
 * affect concurrent files. Requests use the real routes.
 */
export async function startDeliveryWorld(
  overrides: Partial<Config> = {},
  parts: Parameters<typeof testContext>[1] = {},
) {
  const bluesky = await workerBluesky()
  const context = await testContext(
    {
      BLUESKY_ENTRY_URL: bluesky.url,
      BLUESKY_VIDEO_URL: bluesky.url,
      BLUESKY_DIRECTORY_URL: bluesky.directoryUrl,
      ...NO_LIMITS,
      ...DELIVERING,
      ...overrides,
    },
    parts,
  )
  await context.orchestrator.ensureSearchAttributes()
  const { logIn, ...service } = await startServiceInProcess(context)

  return {
    ...service,
    bluesky,
    control: controlOf(bluesky.control),

    /** Logs a new user in, by default with Bluesky connected. */
    async user(options: { connected?: boolean } = {}) {
      const user = await logIn()
      const account = await bluesky.createAccount({ handle: `${unique('u')}.test` })
      const connect = () =>
        user.call('POST', '/api/platform/bluesky/connect', {
          identifier: account.handle,
          appPassword: account.appPassword,
        })
      if (options.connected !== false) {
        const { status, body } = await connect()
        if (status !== 200) throw new Error(`connecting failed: ${JSON.stringify(body)}`)
      }
      return {
        ...user,
        secrets: { ...user.secrets, appPassword: account.appPassword },
        account,
        connect,
        create: (body: object) => user.create({ selectedPlatforms: ['bluesky'], ...body }),
        /** Returns the user's posts that the public sees on Bluesky. */
        published: async (): Promise<LedgerEntry[]> =>
          (await controlOf(bluesky.control).ledger()).filter((entry) => entry.account === account.handle),
      }
    },

    async stop(): Promise<void> {
      await service.stop()
      await bluesky.reset()
    },
  }
}

export type DeliveryWorld = Awaited<ReturnType<typeof startDeliveryWorld>>
