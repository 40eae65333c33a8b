import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { PublicationReport } from '../../../../src/domain/quotas/publications.ts'
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

/** Lets Bluesky state what is left of a quota. Returns how often it was asked. */
function answerQuestions(answer: () => Promise<PublicationReport[]>) {
  let asked = 0
  const readPublicationQuota = () => {
    asked += 1
    return answer()
  }
  Object.assign(world.context.platforms.find('bluesky')!, { readPublicationQuota })
  return () => asked
}
afterEach(() => Object.assign(world.context.platforms.find('bluesky')!, { readPublicationQuota: undefined }))

it('the platform is asked once before a warning, and its own limit decides', async () => {
  const ann = await connectedCaller()
  const countQuestions = answerQuestions(async () => [{ span: 'hour', limit: 3, remaining: 3, resetsInMs: HOUR }])
  for (const minutes of [0, 20]) await ann.call('POST', '', body(minutes))
  expect(countQuestions()).toBe(0)
  for (const path of ['/validate', '']) expect(warningsOf(await ann.call('POST', path, body(40)))).toEqual([])
  const [warning] = warningsOf(await ann.call('POST', '', body(50)))
  expect(warning!.message).toContain('Bluesky accepts 3 posts of an account in an hour')
  expect(countQuestions()).toBe(1)
})

it('the documented limit decides while the platform does not respond', async () => {
  const ann = await connectedCaller()
  const countQuestions = answerQuestions(() => Promise.reject(new Error('not now')))
  for (const minutes of [0, 20]) await ann.call('POST', '', body(minutes))
  const [warning] = warningsOf(await ann.call('POST', '', body(40)))
  expect(warning!.message).toContain('Bluesky accepts 2 posts of an account in an hour')
  expect(countQuestions()).toBe(1)
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
