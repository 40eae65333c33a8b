import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

const EDITABLE: Platform[] = ['mastodon', 'facebook', 'tumblr']
const PUBLISH_TIMEOUT_MS = 2_000
const LATE_MS = 8_000

let world: PlatformsWorld
beforeAll(async () => {
  world = await startPlatformsWorld({ WORKER_QUEUES: 'publishing,preparing,maintenance', PUBLISH_TIMEOUT_MS })
})
afterAll(() => world?.stop())

type User = Awaited<ReturnType<PlatformsWorld['user']>>

const edit = (user: User, postId: string, text: string, accounts?: string[]) =>
  user.call('PATCH', `/api/posts/${postId}/published`, { content: { text }, ...(accounts && { accounts }) })
const entriesOf = async (user: User, postId: string) => (await user.status(postId)).platformStatuses
const revisionsOf = async (user: User, postId: string) =>
  (await entriesOf(user, postId)).flatMap(({ revisions = [] }) => revisions)

/** Waits until no edit is pending. */
async function untilEdited(user: User, postId: string) {
  await expect
    .poll(async () => (await revisionsOf(user, postId)).map(({ status }) => status), { timeout: 60_000 })
    .not.toContain('pending')
  return revisionsOf(user, postId)
}

async function newPost(user: User, on: readonly Platform[], text: string, fields: object = {}): Promise<string> {
  const postId = await user.post(on, text, fields)
  await user.until(postId)
  return postId
}

it('a published post is edited on every platform that allows it, and keeps its id', async () => {
  const user = await world.user()
  const postId = await newPost(user, EDITABLE, 'Before')
  const before = await entriesOf(user, postId)
  const answer = await edit(user, postId, 'After')
  expect(answer.status).toBe(202)
  expect(await untilEdited(user, postId)).toMatchObject(
    EDITABLE.map(() => ({ text: 'After', status: 'completed', requestedBy: user.userId, error: null })),
  )
  for (const { platform, platformPostId } of before) {
    const [published, ...others] = await user.published(platform as Platform)
    expect([published!.text, published!.edits, others]).toEqual(['After', ['After'], []])
    expect(platformPostId).toContain(published!.id)
  }
  const { events } = (await user.call('GET', '/api/events')).body.data
  expect(events.filter(({ type }: { type: string }) => type === 'delivery.edited')).toHaveLength(3)
})

it('nothing is edited when one of the accounts cannot be edited, and the answer says why', async () => {
  const user = await world.user()
  const postId = await newPost(user, ['mastodon', 'bluesky', 'instagram'], 'Before')
  const answer = await edit(user, postId, 'After')
  expect([answer.status, answer.body.code]).toEqual([409, 'POST_NOT_EDITABLE'])
  expect(answer.body.errors.map(({ platform, code }: Record<string, string>) => [platform, code])).toEqual([
    ['bluesky', 'PLATFORM_NOT_SUPPORTED'],
    ['instagram', 'PLATFORM_NOT_SUPPORTED'],
  ])
  expect(await revisionsOf(user, postId)).toEqual([])
  const { accountId } = (await entriesOf(user, postId)).find(({ platform }) => platform === 'mastodon')!
  expect((await edit(user, postId, 'After', [accountId!])).status).toBe(202)
  expect(await untilEdited(user, postId)).toMatchObject([{ status: 'completed' }])
  expect((await user.published('bluesky'))[0]!.text).toBe('Before')
})

it.each(EDITABLE)('one edit results on %s when the answer is lost', async (platform) => {
  const user = await world.user()
  const { control } = world.find(platform)
  const { accountId: account } = user.accountOn(platform)
  const postId = await newPost(user, [platform], 'Before')
  const method = platform === 'facebook' ? 'POST' : 'PUT'
  await control.fault({ method, account, times: 1, action: { dropAfterAccept: true } })
  await edit(user, postId, 'After')
  expect(await untilEdited(user, postId)).toMatchObject([{ text: 'After', status: 'completed' }])
  expect(await control.faults()).toEqual([])
  expect((await user.published(platform))[0]!.edits).toEqual(['After'])
})

it('an edit whose call takes effect late is made once, and before the next one', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await newPost(user, ['mastodon'], 'Before')
  await control.fault({ method: 'PUT', account, times: 1, action: { delayMs: LATE_MS } })
  await edit(user, postId, 'One')
  await edit(user, postId, 'Two')
  expect((await untilEdited(user, postId)).map(({ status }) => status)).toEqual(['completed', 'completed'])
  const calls = async () => (await control.requests()).filter((one) => one.method === 'PUT' && one.account === account)
  await expect.poll(async () => (await calls()).map(({ status }) => status), { timeout: 30_000 }).not.toContain(null)
  expect((await user.published('mastodon'))[0]!.edits).toEqual(['One', 'Two'])
})

it('one edit results when the worker is restarted between the call and its record', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await newPost(user, ['mastodon'], 'Before')
  await control.fault({ method: 'PUT', account, times: 1, action: { holdAfterAccept: true } })
  await edit(user, postId, 'After')
  await expect.poll(async () => (await user.published('mastodon'))[0]!.edits, { timeout: 30_000 }).toEqual(['After'])
  await world.stopWorkers()
  await world.startWorkers()
  expect(await untilEdited(user, postId)).toMatchObject([{ status: 'completed' }])
  expect((await user.published('mastodon'))[0]!.edits).toEqual(['After'])
})

it('edits that wait are made in their order, and a removal ends them', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await newPost(user, ['mastodon'], 'Before')
  const unavailable = { status: 503, body: { error: 'Unavailable' } }
  await control.fault({ method: 'PUT', account, times: 1, action: unavailable })
  await edit(user, postId, 'One')
  await edit(user, postId, 'Two')
  expect((await untilEdited(user, postId)).map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect((await user.published('mastodon'))[0]!.edits).toEqual(['One', 'Two'])

  const long = { ...unavailable, headers: { 'retry-after': '600' } }
  await control.fault({ method: 'PUT', account, times: 1, action: long })
  await edit(user, postId, 'Three')
  await expect.poll(() => control.faults(), { timeout: 30_000 }).toEqual([])
  // It wakes the workflow, which waits for the edit.
  expect((await user.call('DELETE', `/api/posts/${postId}/published`)).status).toBe(202)
  await expect.poll(() => user.published('mastodon'), { timeout: 30_000 }).toEqual([])
  expect((await revisionsOf(user, postId))[2]).toMatchObject({ status: 'failed', errorCode: 'CANCELLED' })
  expect((await edit(user, postId, 'Four')).status).toBe(409)
})

it('an edit that the platform refuses is a warning with the reason', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await newPost(user, ['mastodon'], 'Before')
  const refusal = { status: 422, body: { error: 'Validation failed: no' } }
  await control.fault({ method: 'PUT', account, times: 1, action: refusal })
  await edit(user, postId, 'After')
  expect(await untilEdited(user, postId)).toMatchObject([{ status: 'failed', errorCode: 'validation' }])
  const isWarned = async () =>
    (await user.call('GET', '/api/notifications')).body.data.notifications.some(({ message }: { message: string }) =>
      message.includes('could not be edited on Mastodon'),
    )
  await expect.poll(isWarned, { timeout: 30_000 }).toBe(true)
})
