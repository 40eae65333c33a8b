import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { changeImport } from '../../../../src/commands/imports/change-import.ts'
import { SECOND } from '../../../../src/domain/shared/times.ts'
import { createdPost } from '../../../support/created-post.ts'
import { applyAll, planTestImport } from '../../../support/imports.ts'
import { inAnHour, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(({ api }) => void (world = withCallers(api)))

async function request(who: Caller, method: 'GET' | 'PUT', url: string, payload?: InjectOptions['payload']) {
  const sent = { method, url, headers: who.headers, ...(payload !== undefined && { payload }) }
  const response = await world.app.inject(sent)
  return { status: response.statusCode, body: response.json() }
}

const setHold = (who: Caller, holdSeconds: unknown) => request(who, 'PUT', '/api/profile/change-hold', { holdSeconds })

/** Creates a user whose immediate posts wait. */
async function patient(holdSeconds: number): Promise<Caller> {
  const who = await world.caller()
  expect((await setHold(who, holdSeconds)).status).toBe(200)
  return who
}

/** Returns how long a stored post waits from its last change on, seconds. */
async function readHold(postId: string): Promise<number> {
  const { dueAt, updatedAt } = (await world.context.posts.find(postId))!
  return (dueAt!.getTime() - updatedAt.getTime()) / SECOND
}

describe('the setting', () => {
  it.each([0, 1, 120])('change-hold accepts %d, and the profile shows it', async (holdSeconds) => {
    const ann = await patient(holdSeconds)
    expect((await request(ann, 'GET', '/api/auth/me')).body.data).toMatchObject({ user: { holdSeconds } })
  })

  it.each([-1, 121, 1.5, '30', null, undefined])('change-hold rejects %j', async (holdSeconds) => {
    const { status, body } = await setHold(await world.caller(), holdSeconds)
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', 'holdSeconds'])
  })
})

describe('a post that is published now', () => {
  it('an immediate post waits for the hold of the user, or that of the request', async () => {
    const ann = await patient(30)
    expect(await readHold(await createdPost(ann))).toBe(30)
    expect(await readHold(await createdPost(ann, { holdSeconds: 0 }))).toBe(0)
    expect(await readHold(await createdPost(ann, { holdSeconds: 120 }))).toBe(120)
    expect(await readHold(await createdPost(await world.caller()))).toBe(0)
  })

  it.each([-1, 121, 1.5, '30'])('a hold of %j is refused', async (holdSeconds) => {
    const ann = await world.caller()
    for (const path of ['/', '/validate']) {
      const { status, body } = await ann.call('POST', path, postBody({ holdSeconds }))
      expect([status, body.code, body.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', 'holdSeconds'])
    }
  })

  it('the responses show when it is due, and the status says how long it waits', async () => {
    const ann = await world.caller()
    const headers = { 'idempotency-key': 'held' }
    const { body } = await ann.call('POST', '/', postBody({ holdSeconds: 60 }), headers)
    const { postId, dueAt } = body.data
    expect(body.data).toMatchObject({ status: 'PENDING', scheduledAt: null })
    expect(Date.parse(dueAt) - Date.now()).toBeGreaterThan(30 * SECOND)
    expect((await ann.call('POST', '/', postBody({ holdSeconds: 60 }), headers)).body.data).toEqual(body.data)
    const progress = await ann.call('GET', `/${postId}/status`)
    expect(progress.body.data).toMatchObject({ status: 'PENDING', dueAt, progress: { pending: 1 } })
    expect(Number(progress.headers['retry-after'])).toBeGreaterThan(30)
    expect((await ann.call('GET', `/${postId}/timeline`)).body.data.events).toEqual([
      { at: expect.any(String), type: 'transition', status: 'PENDING', until: dueAt },
    ])
  })

  it('a draft and a scheduled post wait for no hold, and the published draft does', async () => {
    const ann = await patient(30)
    const scheduledAt = inAnHour()
    const scheduled = await ann.call('POST', '/', postBody({ scheduledAt, holdSeconds: 60 }))
    expect(scheduled.body.data).toMatchObject({ status: 'SCHEDULED', dueAt: scheduledAt })
    for (const [hold, expected] of [
      [{}, 30],
      [{ holdSeconds: 5 }, 5],
    ] as const) {
      const postId = await createdPost(ann, { status: 'DRAFT', holdSeconds: 60 })
      const { status, body } = await ann.call('PATCH', `/${postId}`, { status: 'PENDING', ...hold })
      expect([status, body.data.status, await readHold(postId)]).toEqual([200, 'PENDING', expected])
      expect(body.data.dueAt).toBe((await world.context.posts.find(postId))!.dueAt!.toISOString())
    }
  })

  it('an edit keeps the end of the hold, and the post can be published sooner and cancelled', async () => {
    const ann = await patient(60)
    const postId = await createdPost(ann)
    const { dueAt } = (await world.context.posts.find(postId))!
    const edited = await ann.call('PATCH', `/${postId}`, { content: { text: 'Edited' }, scheduledAt: null })
    expect(edited.body.data.dueAt).toBe(dueAt!.toISOString())
    await ann.call('PATCH', `/${postId}`, { holdSeconds: 0 })
    expect(await readHold(postId)).toBe(0)
    const cancelled = await createdPost(ann)
    expect((await ann.call('POST', `/${cancelled}/cancel`)).body.data.status).toBe('CANCELLED')
    expect((await ann.call('GET', `/${cancelled}/status`)).body.data.status).toBe('CANCELLED')
  })
})

it('a row of an import without a time waits for the hold of the row, or that of the user', async () => {
  const ann = await patient(30)
  const { userId } = ann
  const selectedPlatforms = ['bluesky' as const]
  const { _id: importId } = await planTestImport(world.context, userId, [
    { content: { text: 'By the setting' }, selectedPlatforms },
    { content: { text: 'By the row' }, selectedPlatforms, holdSeconds: 10 },
  ])
  const options = { skipErrors: false, skipConflicts: false }
  await changeImport(world.context, { userId, importId, move: 'apply', options, assertMayPublish: () => {} })
  await applyAll(world.context, userId, importId)
  const posts = await Array.fromAsync(world.context.posts.allOf(userId))
  const holds = posts.map(({ content, dueAt, createdAt }) => [content.text, Number(dueAt) - Number(createdAt)])
  expect(Object.fromEntries(holds)).toEqual({ 'By the setting': 30 * SECOND, 'By the row': 10 * SECOND })
})
