import { MockActivityEnvironment } from '@temporalio/testing'
import { describe, expect, it } from 'vitest'
import { createRenewTokensActivities } from '../../../src/activities/accounts/renew-tokens.ts'
import { systemClock } from '../../../src/clock.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import type { PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { rotatingPlatform, startProcess } from './world.ts'
import { partial } from '../../support/partial.ts'

const inDays = (days: number) => new Date(Date.now() + days * DAY)

async function worldWith(adapter: PlatformAdapter) {
  const process = await startProcess(adapter)
  await process.forgetAll()
  const { renewEndingTokens } = createRenewTokensActivities(
    partial({
      ...process,
      platforms: partial({ find: (platform) => (platform === adapter.platform ? adapter : null) }),
      users: partial({ findTimezones: async (ids) => new Map(ids.map((id) => [id, 'Asia/Tokyo'])) }),
      clock: systemClock,
    }),
  )

  /** Runs all pages of one day. */
  async function renewAll() {
    const total = { renewed: 0, warned: 0, pages: 0 }
    for (let after: string | null = null; ;) {
      const page: Awaited<ReturnType<typeof renewEndingTokens>> = await new MockActivityEnvironment().run(
        renewEndingTokens,
        after,
      )
      total.renewed += page.renewed
      total.warned += page.warned
      total.pages += 1
      if (page.after === null) return total
      after = page.after
    }
  }

  return {
    ...process,
    renewAll,
    warningsOf: async (userId: string) =>
      (await process.notifications.listOf(userId, 10)).map(({ message }) => message),
    endOf: async (userId: string) => (await process.accounts.findDefault(userId, 'bluesky'))?.auth.endsAt,
  }
}

describe('connections that are about to expire', () => {
  it('a connection is renewed ten days before its end without a notification', async () => {
    const platform = rotatingPlatform()
    const world = await worldWith(platform.adapter)
    const [ending, fresh, endless] = [newId(), newId(), newId()]
    await world.connect(ending, platform.login(undefined, { endsAt: inDays(9) }))
    platform.answerBy((rotate) => ({ ...rotate(), endsAt: inDays(90) }))
    await world.connect(fresh, { ...rotatingPlatform().login(), endsAt: inDays(11) })
    await world.connect(endless, rotatingPlatform().login())
    expect(await world.renewAll()).toEqual({ renewed: 1, warned: 0, pages: 1 })
    expect(platform.calls).toHaveLength(1)
    expect((await world.endOf(ending))!.getTime()).toBeGreaterThan(inDays(80).getTime())
    expect(await world.warningsOf(ending)).toEqual([])
    expect(await world.renewAll()).toEqual({ renewed: 0, warned: 0, pages: 1 })
  })

  it('a connection that only a new login can renew causes one notification seven days before its end', async () => {
    const { renew: _, ...adapter } = rotatingPlatform().adapter
    const world = await worldWith(adapter)
    const [soon, later] = [newId(), newId()]
    const soonEnds = inDays(6)
    await world.connect(soon, { ...rotatingPlatform().login(), endsAt: soonEnds })
    await world.connect(later, { ...rotatingPlatform().login(), endsAt: inDays(8) })
    expect(await world.renewAll()).toMatchObject({ renewed: 0, warned: 1 })
    expect(await world.renewAll()).toMatchObject({ renewed: 0, warned: 0 })
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Asia/Tokyo' }).format(soonEnds)
    expect(await world.warningsOf(soon)).toEqual([
      `Your Bluesky connection ends on ${day}. Reconnect the account in settings before then.`,
    ])
    expect(await world.warningsOf(later)).toEqual([])
  })

  it('a renewal is retried the next day when the platform is unreachable', async () => {
    const platform = rotatingPlatform()
    const world = await worldWith(platform.adapter)
    const userId = newId()
    await world.connect(userId, platform.login(undefined, { endsAt: inDays(8) }))
    platform.answerBy(() => {
      throw new PlatformError('transient', 'The platform is away', { certain: true })
    })
    expect(await world.renewAll()).toMatchObject({ renewed: 0, warned: 0 })
    expect((await world.accounts.findDefault(userId, 'bluesky'))?.health.status).toBe('active')
  })

  it('a connection expires when the platform refuses the renewal, with one notification', async () => {
    const platform = rotatingPlatform()
    const world = await worldWith(platform.adapter)
    const userId = newId()
    await world.connect(userId, platform.login(undefined, { endsAt: inDays(5) }))
    platform.answerBy(() => {
      throw new PlatformError('unauthorized', 'Bluesky asks for a new login', { certain: true })
    })
    await world.renewAll()
    await world.renewAll()
    expect((await world.accounts.findDefault(userId, 'bluesky'))?.health.status).toBe('expired')
    expect(await world.warningsOf(userId)).toEqual([
      'Your Bluesky connection has expired. Reconnect the account in settings.',
    ])
  })

  it('the renewal run reads connections page by page', async () => {
    const { renew: _, ...adapter } = rotatingPlatform().adapter
    const world = await worldWith(adapter)
    const users = Array.from({ length: 120 }, () => newId())
    for (const userId of users) await world.connect(userId, { ...rotatingPlatform().login(), endsAt: inDays(2) })
    expect(await world.renewAll()).toEqual({ renewed: 0, warned: 120, pages: 3 })
  })
})
