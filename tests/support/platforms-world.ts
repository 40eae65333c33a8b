import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behaviour } from '../../sandbox/platforms/sandbox-platform.ts'
import type { Config } from '../../src/config/schema.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { uploadImage } from '../faults/image.ts'
import { matchesCall, startFaultPlatforms, type Browser } from '../faults/platforms.ts'
import { DELIVERING, NO_LIMITS, poll } from './delivery-world.ts'
import { testConfig, testContext, unique } from './servers.ts'
import { startServiceInProcess } from './service-in-process.ts'
import { workerBluesky } from './worker-bluesky.ts'

/**
 * Starts the API and the workers that deliver posts in this process, with every platform of the sandbox. Faults of the platforms do not
 * affect concurrent files.
 */
export async function startPlatformsWorld(overrides: Partial<Config> = {}, behaviour: Behaviour = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-platforms-'))
  const { PUBLIC_URL } = testConfig()
  // Its audience is chosen at its start.
  const bluesky = behaviour.crowdOn ? undefined : await workerBluesky()
  const sandbox = await startFaultPlatforms(dir, PUBLIC_URL, { ...behaviour, ...(bluesky && { bluesky }) })
  const context = await testContext({ ...(sandbox.env as Partial<Config>), ...NO_LIMITS, ...DELIVERING, ...overrides })
  const { logIn, ...service } = await startServiceInProcess(context)
  const { platforms } = sandbox
  const find = (name: Platform) => platforms.find(({ platform }) => platform === name)!

  return {
    ...service,
    platforms,
    fronts: sandbox.fronts,
    find,

    /** Logs in a new user with an account on every platform, and an image for the platforms that require media. */
    async user() {
      const user = await logIn()
      const name = unique('u')
      const browser: Browser = {
        send: user.call,
        async goTo(address) {
          const answer = await service.app.inject({ url: address.replace(PUBLIC_URL, '') })
          return answer.headers.location ?? `status ${answer.statusCode}`
        },
      }
      const connected = await sandbox.connect(name, browser)
      const accounts = new Map(connected.map((account) => [account.platform, account]))
      const image = await uploadImage(user.call)
      const accountOn = (platform: Platform) => accounts.get(platform)!

      return {
        ...user,
        accountOn,
        /** Waits until the followers of every account are counted: connecting starts that with a call in the account's name. */
        async followersCounted(): Promise<void> {
          const own = await context.accounts.listConnected(user.userId)
          await poll(
            () =>
              Promise.all(
                own.map(({ platform, _id }) => context.snapshots.latestFollowers(user.userId, platform, _id)),
              ),
            (counted) => !counted.includes(null),
          )
        },

        /** Reconnects the account, like a user after a notification about the expired connection. */
        reconnect: (platform: Platform) => sandbox.connect(name, browser, platform),

        /** @returns the post's id */
        post(on: readonly Platform[], text: string, fields: object = {}): Promise<string> {
          const withImage = on.filter((platform) => find(platform).needsMedia)
          const platformSpecificContent = Object.fromEntries(
            withImage.map((platform) => [platform, { mediaItems: [image] }]),
          )
          return user.create({ content: { text }, platformSpecificContent, selectedPlatforms: on, ...fields })
        },

        /** Returns the user's posts that the public sees on the platform. */
        async published(platform: Platform) {
          const ledger = await find(platform).control.ledger()
          return ledger.filter(({ account }) => account === accountOn(platform).account)
        },

        /** Returns the calls in the user's name that make a post visible on the platform. */
        async visibleCalls(platform: Platform) {
          const { control, calls } = find(platform)
          const { accountId } = accountOn(platform)
          return (await control.requests()).filter(
            (request) => request.account === accountId && matchesCall(calls.publish, request),
          )
        },
      }
    },

    clearFaults: async () => void (await Promise.all(platforms.map(({ control }) => control.clearFaults()))),

    async stop(): Promise<void> {
      await service.stop()
      await sandbox.stop()
      await bluesky?.reset()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type PlatformsWorld = Awaited<ReturnType<typeof startPlatformsWorld>>
