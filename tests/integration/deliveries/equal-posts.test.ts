import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { poll } from '../../support/delivery-world.ts'

let world: PlatformsWorld
beforeAll(
  async () => void (world = await startPlatformsWorld({ PUBLISH_TIMEOUT_MS: 2_500, UNANSWERED_CALL_SETTLE_MS: 1_000 })),
)
afterAll(() => world?.stop())

// Facebook refuses a text that equals the one before.
it.each(['bluesky', 'instagram', 'mastodon', 'threads', 'tumblr'] as const)(
  'of two equal posts on %s, one with a lost answer and one with a lost call, each has its own platform post',
  async (platform) => {
    const { control, calls } = world.find(platform)
    const user = await world.user()
    const { accountId: account } = user.accountOn(platform)
    await control.fault({ ...calls.publish, account, times: 1, action: { holdAfterAccept: true } })
    const first = await user.post([platform], 'Twins')
    await poll(
      () => user.published(platform),
      (published) => published.length === 1,
    )
    // This one is reconciled while the first one still waits for its answer, and finds what the first one has published.
    await control.fault({ ...calls.publish, account, times: 1, action: { cut: true } })
    const second = await user.post([platform], 'Twins')
    const ends = [await user.until(first), await user.until(second)]
    expect(ends.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    const ids = ends.map(({ platformStatuses }) => platformStatuses[0]!.platformPostId!)
    expect(ids.toSorted()).toEqual((await user.published(platform)).map(({ id }) => id).toSorted())
  },
)
