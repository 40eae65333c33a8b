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
