import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

let world: PlatformsWorld
beforeAll(async () => void (world = await startPlatformsWorld({ WORKER_QUEUES: 'publishing,preparing,maintenance' })))
afterAll(() => world?.stop())

type User = Awaited<ReturnType<PlatformsWorld['user']>>

const takeBack = (user: User, postId: string, query = '') =>
  user.call('DELETE', `/api/posts/${postId}/published${query}`)
const entriesOf = async (user: User, postId: string) => (await user.status(postId)).platformStatuses

/** Waits until no removal is pending. */
async function untilRemoved(user: User, postId: string) {
  await expect
    .poll(async () => (await entriesOf(user, postId)).map(({ removal }) => removal?.status), { timeout: 60_000 })
    .not.toContain('pending')
  return entriesOf(user, postId)
}

it('a published post is removed from every platform that allows it, and the others say what to do', async () => {
  const user = await world.user()
  const platforms = world.platforms.map(({ platform }) => platform)
  const postId = await user.post(platforms, 'Taken back')
  await user.until(postId)
  expect((await takeBack(user, postId)).status).toBe(202)
  const entries = await untilRemoved(user, postId)
  for (const { platform, status, removal } of entries) {
    if (platform === 'instagram') {
      expect(removal).toMatchObject({ status: 'failed', requestedBy: user.userId })
      expect(removal!.error).toContain('Delete it in the Instagram app')
    } else {
      expect([platform, status, removal!.status, removal!.requestedBy]).toEqual([
        platform,
        'deleted',
        'completed',
        user.userId,
      ])
      expect(await user.published(platform as Platform)).toEqual([])
    }
  }
  expect((await user.status(postId)).status).toBe('COMPLETED')
})

it('a removal is repeated after a lost answer, and removes all posts of a thread', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const content = { text: 'One', segments: [{ text: 'Two' }], firstComment: 'Three' }
  const postId = await user.post(['mastodon', 'bluesky'], '', { content })
  await user.until(postId)
  await control.fault({ method: 'DELETE', account, times: 1, action: { dropAfterAccept: true } })
  const { accountId } = (await entriesOf(user, postId)).find(({ platform }) => platform === 'mastodon')!
  await takeBack(user, postId, `?accounts=${accountId}`)
  await untilRemoved(user, postId)
  expect(await user.published('mastodon')).toEqual([])
  expect(await user.published('bluesky')).toHaveLength(3)
  expect((await takeBack(user, postId, `?accounts=${accountId}`)).status).toBe(202)
  await takeBack(user, postId)
  expect((await untilRemoved(user, postId)).map(({ status }) => status)).toEqual(['deleted', 'deleted'])
  expect(await user.published('bluesky')).toEqual([])
})

it('a post that is not published yet cannot be taken back', async () => {
  const user = await world.user()
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const postId = await user.post(['mastodon'], 'Later', { scheduledAt })
  const answer = await takeBack(user, postId)
  expect([answer.status, answer.body.code]).toEqual([409, 'NOTHING_PUBLISHED'])
  expect((await takeBack(user, '0'.repeat(24))).status).toBe(404)
})

it('a platform that refuses a removal keeps the post published, with its reason', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await user.post(['mastodon'], 'Stays')
  await user.until(postId)
  const refusal = { status: 403, body: { error: 'This action is outside the authorized scopes' } }
  await control.fault({ method: 'DELETE', account, times: 1, action: refusal })
  await takeBack(user, postId)
  const [entry] = await untilRemoved(user, postId)
  expect(entry).toMatchObject({ status: 'completed', removal: { status: 'failed', errorCode: 'permission' } })
  expect(await user.published('mastodon')).toHaveLength(1)
})

it('a removal that has to wait is due when it is tried again, so the sweeper leaves it alone until then', async () => {
  const user = await world.user()
  const { control } = world.find('mastodon')
  const { accountId: account } = user.accountOn('mastodon')
  const postId = await user.post(['mastodon'], 'Waits')
  await user.until(postId)
  const unavailable = { status: 503, headers: { 'retry-after': '30' }, body: { error: 'Unavailable' } }
  await control.fault({ method: 'DELETE', account, times: 1, action: unavailable })
  await takeBack(user, postId)
  const waited = async () => {
    const { changeDueAt, platformStatuses } = (await world.context.posts.find(postId))!
    return changeDueAt!.getTime() - platformStatuses[0]!.removal!.requestedAt.getTime()
  }
  await expect.poll(waited, { timeout: 30_000 }).toBeGreaterThanOrEqual(30_000)
  const unchanged = await world.context.posts.listUnchanged(new Date(), 1_000)
  expect(unchanged.map(({ id }) => id)).not.toContain(postId)
})

it('a removal from an account that is no longer connected says so', async () => {
  const user = await world.user()
  const postId = await user.post(['mastodon'], '', { content: { text: 'One', segments: [{ text: 'Two' }] } })
  await user.until(postId)
  await user.call('DELETE', '/api/platform/mastodon/disconnect')
  await takeBack(user, postId)
  const [entry] = await untilRemoved(user, postId)
  expect(entry).toMatchObject({
    status: 'completed',
    removal: { status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' },
  })
  expect(await user.published('mastodon')).toHaveLength(2)
})

it('the removals of one user that hang leave room for those of others', async () => {
  const [busy, other] = [await world.user(), await world.user()]
  const { control } = world.find('mastodon')
  const postIds = await Promise.all([1, 2, 3, 4, 5].map((number) => busy.post(['mastodon'], `Hangs ${number}`)))
  const otherId = await other.post(['mastodon'], 'Does not hang')
  for (const postId of postIds) await busy.until(postId)
  await other.until(otherId)
  const { accountId: account } = busy.accountOn('mastodon')
  await control.fault({ method: 'DELETE', account, action: { hang: true } })
  for (const postId of postIds) await takeBack(busy, postId)
  const removals = async () =>
    (await control.requests()).filter((request) => request.method === 'DELETE' && request.account === account)
  await expect.poll(async () => (await removals()).length, { timeout: 30_000 }).toBe(3)
  await takeBack(other, otherId)
  await untilRemoved(other, otherId)
  expect(await removals()).toHaveLength(3)
  await world.clearFaults()
})
