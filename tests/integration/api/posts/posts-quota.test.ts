import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../../src/domain/shared/times.ts'
import { createdPost } from '../../../support/created-post.ts'
import { postBody, postsWorld, type Answer, type PostsWorld } from '../../../support/posts-api.ts'
import { connectAccounts } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'

let world: PostsWorld
beforeAll(async () => {
  world = await postsWorld()
  const key = unique('account')
  Object.assign(world.context.platforms.find('bluesky')!, {
    publicationQuota: ({ accountId }: { accountId: string }) => ({
      key: `${key} ${accountId}`,
      limits: [{ span: 'hour', limit: 2, windowMs: HOUR }],
    }),
  })
})
afterAll(() => world.close())

/** A user with a Bluesky account that may publish two posts an hour. */
async function connectedCaller() {
  const ann = await world.caller()
  await connectAccounts(world.context, ann.userId, ['bluesky'])
  return ann
}

const start = Math.ceil(Date.now() / HOUR) * HOUR + 5 * HOUR
const after = (minutes: number) => new Date(start + minutes * MINUTE).toISOString()
const body = (minutes: number) => postBody({ scheduledAt: after(minutes), timezone: 'Europe/Berlin' })
const warningsOf = (answer: Answer) =>
  answer.body.data.warnings as { code: string; nextFreeAt?: string; message: string }[]

it('a scheduled post that would pass the quota is accepted with a warning and the next free time', async () => {
  const ann = await connectedCaller()
  for (const minutes of [0, 20]) expect(warningsOf(await ann.call('POST', '', body(minutes)))).toEqual([])
  const answer = await ann.call('POST', '', body(40))
  expect(answer.status).toBe(201)
  const [warning] = warningsOf(answer)
  expect(warning).toMatchObject({
    path: 'selectedPlatforms.0',
    code: 'QUOTA_LIKELY_EXCEEDED',
    platform: 'bluesky',
    nextFreeAt: after(60),
  })
  expect(warning!.message).toContain('Bluesky accepts 2 posts of an account in an hour')
  expect(warning!.message).toContain('(Europe/Berlin)')
})

it('validating a post returns the same warning, and stores nothing', async () => {
  const ann = await connectedCaller()
  for (const minutes of [0, 20]) await ann.call('POST', '', body(minutes))
  const answer = await ann.call('POST', '/validate', body(40))
  expect(answer.body.data).toMatchObject({ valid: true, warnings: [{ code: 'QUOTA_LIKELY_EXCEEDED' }] })
  expect(warningsOf(await ann.call('POST', '/validate', body(80)))).toEqual([])
})

it('a post that is moved is warned of where it moves to, and does not count as its own predecessor', async () => {
  const ann = await connectedCaller()
  for (const minutes of [0, 20]) await ann.call('POST', '', body(minutes))
  const postId = await createdPost(ann, body(90))
  const move = (minutes: number) => ann.call('PATCH', `/${postId}`, { scheduledAt: after(minutes) })
  expect(warningsOf(await move(40))).toMatchObject([{ code: 'QUOTA_LIKELY_EXCEEDED', nextFreeAt: after(60) }])
  expect(warningsOf(await move(80))).toEqual([])
  expect(warningsOf(await move(81))).toEqual([])
})

it('drafts, accounts of others and posts on other platforms use no quota', async () => {
  const [ann, ben] = [await connectedCaller(), await connectedCaller()]
  for (const minutes of [0, 10, 20]) {
    await ben.call('POST', '', body(minutes))
    await ann.call('POST', '', { ...body(minutes), status: 'DRAFT' })
    await ann.call('POST', '', { ...body(minutes), selectedPlatforms: ['threads'] })
  }
  expect(warningsOf(await ann.call('POST', '', body(40)))).toEqual([])
})
