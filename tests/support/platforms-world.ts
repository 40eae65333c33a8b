import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behaviour } from '../../sandbox/platforms/sandbox-platform.ts'
import type { Config } from '../../src/config/schema.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { uploadImage } from '../faults/image.ts'
import { isOne, startFaultPlatforms, type Browser } from '../faults/platforms.ts'
import { NO_LIMITS, poll } from './delivery-world.ts'
import { testConfig, testContext, unique } from './servers.ts'
import { startServiceInProcess } from './service-in-process.ts'

/** The whole service in this process, with every platform of the sandbox for the file alone. */
export async function startPlatformsWorld(overrides: Partial<Config> = {}, behaviour: Behaviour = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-platforms-'))
  const { PUBLIC_URL } = testConfig()
  const outside = await startFaultPlatforms(dir, PUBLIC_URL, behaviour)
  const context = await testContext({ ...(outside.env as Partial<Config>), ...NO_LIMITS, ...overrides })
  const { logIn, ...service } = await startServiceInProcess(context)
  const { platforms } = outside
  const find = (name: Platform) => platforms.find(({ platform }) => platform === name)!

  return {
    ...service,
    platforms,
    fronts: outside.fronts,
    find,

    /** A user with an account on every platform, and an image for those that take no words alone. */
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
      const connected = await outside.connect(name, browser)
      const accounts = new Map(connected.map((account) => [account.platform, account]))
      const image = await uploadImage(user.call)
      const accountOn = (platform: Platform) => accounts.get(platform)!

      return {
        ...user,
        accountOn,
        /** Connecting has the followers counted, by a call in the account's name: waits until that is over everywhere. */
        async followersCounted(): Promise<void> {
          await poll(
            () =>
              Promise.all(connected.map(({ platform }) => context.snapshots.latestFollowers(user.userId, platform))),
            (counted) => !counted.includes(null),
          )
        },

        /** Reconnects the account, like a user after a notification about the expired connection. */
        reconnect: (platform: Platform) => outside.connect(name, browser, platform),

        /** @returns the post's id */
        post(on: readonly Platform[], text: string, more: object = {}): Promise<string> {
          const pictured = on.filter((platform) => find(platform).needsMedia)
          const platformSpecificContent = Object.fromEntries(
            pictured.map((platform) => [platform, { mediaItems: [image] }]),
          )
          return user.create({ content: { text }, platformSpecificContent, selectedPlatforms: on, ...more })
        },

        /** What the public sees of this user there. */
        async published(platform: Platform) {
          const ledger = await find(platform).control.ledger()
          return ledger.filter(({ account }) => account === accountOn(platform).account)
        },

        /** The calls in this user's name that make a post visible there. */
        async visibleCalls(platform: Platform) {
          const { control, calls } = find(platform)
          const { accountId } = accountOn(platform)
          return (await control.requests()).filter(
            (request) => request.account === accountId && isOne(calls.publish, request),
          )
        },
      }
    },

    clearFaults: async () => void (await Promise.all(platforms.map(({ control }) => control.clearFaults()))),

    async stop(): Promise<void> {
      await service.stop()
      await outside.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type PlatformsWorld = Awaited<ReturnType<typeof startPlatformsWorld>>
