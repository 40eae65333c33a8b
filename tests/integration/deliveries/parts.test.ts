import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

let world: PlatformsWorld
beforeAll(
  async () => void (world = await startPlatformsWorld({ PUBLISH_TIMEOUT_MS: 2_500, UNANSWERED_CALL_SETTLE_MS: 1_000 })),
)
afterAll(() => world?.stop())

const WITH_THREADS = ['bluesky', 'mastodon'] as const

const thread = (name: string) => ({
  content: {
    text: `${name} one`,
    segments: [{ text: `${name} two` }, { text: `${name} three` }],
    firstComment: `${name} comment`,
    onUnsupported: 'join',
  },
})

it('a thread is published in order on every platform, with its parts in the post', async () => {
  const user = await world.user()
  const name = 'Whole'
  const end = await user.until(await user.post([...WITH_THREADS, 'tumblr'], '', thread(name)))
  expect(end.status).toBe('COMPLETED')
  for (const platform of WITH_THREADS) {
    const records = await user.published(platform)
    expect(records.map(({ text }) => text)).toEqual(['one', 'two', 'three', 'comment'].map((word) => `${name} ${word}`))
    const entry = end.platformStatuses.find((one) => one.platform === platform)!
    expect(entry.parts!.map(({ platformPostId }) => platformPostId)).toEqual(records.map(({ id }) => id))
    expect(entry.parts!.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      ...['post completed', 'post completed', 'post completed', 'comment completed'],
    ])
    expect(entry.platformPostId).toBe(records[0]!.id)
  }
  const [joined] = await user.published('tumblr')
  expect(joined!.text).toContain(`${name} three`)
})

it.each(WITH_THREADS)('after a lost answer to any part on %s, each part is published once', async (platform) => {
  const { control, calls } = world.find(platform)
  const user = await world.user()
  const { accountId: account } = user.accountOn(platform)
  for (let part = 0; part < 4; part++) {
    const name = `Lost ${part}`
    await control.fault({ ...calls.publish, account, skip: part, times: 1, action: { dropAfterAccept: true } })
    const end = await user.until(await user.post([platform], '', thread(name)))
    const records = (await user.published(platform)).filter(({ text }) => text.startsWith(name))
    expect([end.status, records.map(({ text }) => text)]).toEqual([
      'COMPLETED',
      ['one', 'two', 'three', 'comment'].map((word) => `${name} ${word}`),
    ])
  }
})

it.each(WITH_THREADS)(
  'a thread that is refused after its first post on %s lists it, and a retry publishes the rest',
  async (platform) => {
    const { control, calls, refusals } = world.find(platform)
    const user = await world.user()
    const { accountId: account } = user.accountOn(platform)
    await control.fault({ ...calls.publish, account, skip: 1, times: 1, action: refusals.definite })
    const id = await user.post([platform], '', thread('Refused'))
    const [failed] = (await user.until(id)).platformStatuses
    expect(failed!.parts!.map(({ status }) => status)).toEqual(['completed', 'failed', 'pending', 'pending'])
    expect(failed).toMatchObject({
      status: 'failed',
      errorCode: 'validation',
      platformPostId: failed!.parts![0]!.platformPostId,
    })
    await user.call('POST', `/api/posts/${id}/retry`)
    const end = await user.until(id, ['COMPLETED'])
    expect(end.platformStatuses[0]!.parts!.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    expect(await user.published(platform)).toHaveLength(4)
  },
)

it('a comment that is refused leaves the post published, and a retry sends it alone', async () => {
  const { control, calls, refusals } = world.find('mastodon')
  const user = await world.user()
  const { accountId: account } = user.accountOn('mastodon')
  await control.fault({ ...calls.publish, account, skip: 1, times: 1, action: refusals.definite })
  const content = { text: 'Commented', firstComment: 'The comment' }
  const id = await user.post(['mastodon'], '', { content })
  const refused = await user.until(id)
  expect(refused.status).toBe('COMPLETED')
  expect(refused.platformStatuses[0]!.parts!.map(({ status }) => status)).toEqual(['completed', 'failed'])
  await user.call('POST', `/api/posts/${id}/retry`)
  const end = await user.until(id, ['COMPLETED'])
  expect(end.platformStatuses[0]!.parts!.map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect((await user.published('mastodon')).map(({ text }) => text)).toEqual(['Commented', 'The comment'])
})
