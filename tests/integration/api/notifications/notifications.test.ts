import { describe, expect, it } from 'vitest'
import { signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { newNotification, storeNotifications } from '../../../support/notifications.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

const list = (who: SignedIn, query = '') =>
  world.app.inject({ url: `/api/notifications${query}`, headers: who.headers })
const read = (who: SignedIn, which: string) =>
  world.app.inject({ method: 'PATCH', url: `/api/notifications/${which}`, headers: who.headers })

async function userWith(count: number) {
  const who = await signIn(world.context)
  return { who, stored: await storeNotifications(world.context, who.user._id, count) }
}

describe('the list of notifications', () => {
  it('the list shows the stored record without the name of its event', async () => {
    const who = await signIn(world.context)
    const dedupeKey = unique('event')
    const options = { image: 'https://example.com/a.png', link: 'https://example.com/post' }
    const reference = { type: 'post', id: unique('post'), model: 'Post' }
    await world.context.notifications.insertOnce(newNotification(who.user._id, { dedupeKey, options, reference }))
    const response = await list(who)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      success: true,
      message: expect.any(String) as string,
      data: {
        notifications: [
          {
            _id: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
            userId: who.user._id,
            message: 'Successfully posted on bluesky',
            type: 'success',
            reference,
            options,
            read: false,
            createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
          },
        ],
        total: 1,
        page: 1,
        limit: 20,
        unread: 1,
      },
    })
    expect(response.body).not.toContain(dedupeKey)
  })

  it('the list is paged, newest first, with notifications of the caller only', async () => {
    const { who, stored } = await userWith(5)
    await userWith(2)
    const idsOf = async (query: string) =>
      (await list(who, query)).json().data.notifications.map(({ _id }: { _id: string }) => _id)
    const ids = stored.map(({ _id }) => _id)
    expect(await idsOf('')).toEqual(ids)
    expect(await idsOf('?limit=2')).toEqual(ids.slice(0, 2))
    expect(await idsOf('?page=3&limit=2')).toEqual(ids.slice(4))
    expect(await idsOf('?page=4&limit=2')).toEqual([])
    expect((await list(who, '?page=2&limit=2')).json().data).toMatchObject({ total: 5, page: 2, limit: 2, unread: 5 })
  })

  it('the list can be limited to unread notifications', async () => {
    const { who, stored } = await userWith(3)
    await read(who, `${stored[1]!._id}/read`)
    const { data } = (await list(who, '?unread=true&limit=1')).json()
    expect(data).toMatchObject({ notifications: [{ _id: stored[0]!._id }], total: 2, unread: 2 })
  })

  it('the list breaks ties of equal timestamps by id', async () => {
    const who = await signIn(world.context)
    await Promise.all(
      Array.from({ length: 20 }, () => world.context.notifications.insertOnce(newNotification(who.user._id))),
    )
    const ids = async (query: string) =>
      (await list(who, query)).json().data.notifications.map(({ _id }: { _id: string }) => _id) as string[]
    const whole = await ids('')
    expect(whole).toHaveLength(20)
    expect([...(await ids('?limit=7')), ...(await ids('?limit=7&page=2')), ...(await ids('?limit=7&page=3'))]).toEqual(
      whole,
    )
  })

  it('the list reduces a limit above 200 to 200', async () => {
    expect((await list(await signIn(world.context), '?limit=1000')).json().data).toMatchObject({ limit: 200 })
  })

  it.each([
    '?page=0',
    '?page=-1',
    '?page=1.5',
    '?page=x',
    '?limit=0',
    '?limit=',
    '?limit=1e2',
    '?page=1&page=2',
    '?unread=1',
    '?grouped=',
  ])('the list is 400 for %s', async (query) => {
    const response = await list(await signIn(world.context), query)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code: 'VALIDATION_FAILED' })
  })
})

describe('marking notifications as read', () => {
  it('marking a notification as read is repeatable and returns the record', async () => {
    const { who, stored } = await userWith(3)
    const { _id } = stored[1]!
    for (let time = 0; time < 2; time++) {
      const response = await read(who, `${_id}/read`)
      expect(response.statusCode).toBe(200)
      expect(response.json()).toMatchObject({ success: true, data: { notification: { _id, read: true } } })
    }
    const { data } = (await list(who)).json()
    expect(data.unread).toBe(2)
    expect(data.notifications.map(({ read: isRead }: { read: boolean }) => isRead)).toEqual([false, true, false])
  })

  it('read-all marks all notifications of the caller and no others', async () => {
    const { who } = await userWith(3)
    const other = await userWith(2)
    expect((await read(who, 'read-all')).json()).toMatchObject({ success: true, data: { updated: 3 } })
    expect((await read(who, 'read-all')).json()).toMatchObject({ data: { updated: 0 } })
    expect((await list(who)).json().data).toMatchObject({ total: 3, unread: 0 })
    expect((await list(other.who)).json().data).toMatchObject({ total: 2, unread: 2 })
  })
})

describe('the grouped list', () => {
  const notify = (who: SignedIn, postId: string, changes: object = {}) =>
    world.context.notifications.insertOnce(
      newNotification(who.user._id, { reference: { type: 'post', id: postId, model: 'Post' }, ...changes }),
    )

  /** Two posts and a notification without a post between them. */
  async function userWithPosts() {
    const who = await signIn(world.context)
    const [first, second] = [unique('post'), unique('post')]
    await notify(who, first, { message: 'created' })
    await notify(who, first, { type: 'error', message: 'failed' })
    await notify(who, who.user._id, { reference: { type: 'user', id: who.user._id, model: 'User' }, message: 'plan' })
    await notify(who, second, { message: 'other' })
    await notify(who, first, { message: 'published' })
    return { who, first, second }
  }
  type Entry = { _id: string; message: string; group: { others: { message: string }[] } }
  const entries = async (who: SignedIn, query = '') =>
    (await list(who, `?grouped=true${query}`)).json().data.notifications as Entry[]

  it('a post has one entry with its newest notification, the count and the most serious type', async () => {
    const { who } = await userWithPosts()
    const { data } = (await list(who, '?grouped=true')).json()
    expect(data).toMatchObject({ total: 3, unread: 5, page: 1, limit: 20 })
    expect(data.notifications).toMatchObject([
      {
        message: 'published',
        type: 'success',
        group: { count: 3, unread: 3, type: 'error', others: [{ message: 'failed' }, { message: 'created' }] },
      },
      { message: 'other', group: { count: 1, unread: 1, type: 'success', others: [] } },
      { message: 'plan', group: { count: 1 } },
    ])
  })

  it('the grouped list is paged and can be limited to unread notifications', async () => {
    const { who } = await userWithPosts()
    const messages = async (query: string) => (await entries(who, query)).map(({ message }) => message)
    expect(await messages('&limit=2')).toEqual(['published', 'other'])
    expect(await messages('&limit=2&page=2')).toEqual(['plan'])
    const [newest] = await entries(who)
    await read(who, `${newest!._id}/read`)
    expect(await messages('&unread=true')).toEqual(['other', 'plan', 'failed'])
  })

  it('a grouped read marks all notifications of the post and no others', async () => {
    const { who } = await userWithPosts()
    const other = await userWith(1)
    const [newest] = await entries(who)
    expect((await read(who, `${newest!._id}/read?grouped=true`)).statusCode).toBe(200)
    const { data } = (await list(who, '?unread=true')).json()
    expect(data).toMatchObject({ total: 2, unread: 2 })
    expect(data.notifications).toMatchObject([{ message: 'other' }, { message: 'plan' }])
    expect((await list(other.who)).json().data.unread).toBe(1)
  })
})

describe('notification preferences', () => {
  const url = '/api/notifications/preferences'
  const get = async (who: SignedIn) => (await world.app.inject({ url, headers: who.headers })).json().data
  const change = (who: SignedIn, payload: object) =>
    world.app.inject({ method: 'PATCH', url, headers: who.headers, payload })

  it('preferences begin with the defaults and name the channels that cannot be switched off', async () => {
    const { preferences, required } = await get(await signIn(world.context))
    expect(preferences).toMatchObject({
      postCreated: { list: true, push: true, mail: false },
      postFailed: { list: true, push: true, mail: true },
    })
    expect(required).toEqual({
      postFailed: ['list'],
      accountLogin: ['list'],
      security: ['list', 'push', 'mail'],
    })
  })

  it('a change sets its channels and leaves the others', async () => {
    const who = await signIn(world.context)
    await change(who, { postFailed: { mail: false } })
    const response = await change(who, { postFailed: { push: false }, postCreated: { list: false } })
    expect(response.statusCode).toBe(200)
    expect(response.json().data.preferences).toMatchObject({
      postFailed: { list: true, push: false, mail: false },
      postCreated: { list: false, push: true, mail: false },
    })
    expect(await get(who)).toEqual(response.json().data)
  })

  it('a change that names no kind is 400', async () => {
    const who = await signIn(world.context)
    for (const body of [{}, { unknown: { list: false } }])
      expect((await change(who, body)).json()).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ path: '' }] })
  })

  it('a change that switches off a required channel is 400 with its path and changes nothing', async () => {
    const who = await signIn(world.context)
    const response = await change(who, { security: { push: false }, postCreated: { push: false } })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'security.push', code: 'CHANNEL_REQUIRED' }],
    })
    expect((await get(who)).preferences.postCreated.push).toBe(true)
  })

  it('unknown kinds and channels are ignored, and values that are not booleans are 400', async () => {
    const who = await signIn(world.context)
    const before = await get(who)
    const ignored = await change(who, { $where: { list: false }, postCreated: { 'a.b': true } })
    expect(ignored.json().data).toEqual(before)
    expect((await change(who, { postCreated: { list: 'false' } })).json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'postCreated.list' }],
    })
  })

  it('a notification whose list is switched off is not listed, and one of another kind is', async () => {
    const who = await signIn(world.context)
    await change(who, { postCreated: { list: false } })
    await world.context.notifications.insertOnce(newNotification(who.user._id, { kind: 'postCreated' }))
    await world.context.notifications.insertOnce(newNotification(who.user._id, { message: 'published' }))
    expect((await list(who)).json().data).toMatchObject({
      notifications: [{ message: 'published' }],
      total: 1,
      unread: 1,
    })
  })
})

it('unread notifications are counted and listed from indexes only', async () => {
  const { who } = await userWith(3)
  const collection = world.context.database.connection.collection('notifications')
  const userId = who.user._id
  const plans = await Promise.all([
    collection.find({ userId, isListed: true }).sort({ createdAt: -1, _id: -1 }).limit(2).explain('executionStats'),
    collection.find({ userId, read: false }).sort({ createdAt: -1, _id: -1 }).limit(2).explain('executionStats'),
  ])
  expect(plans.map(({ executionStats }) => executionStats.totalDocsExamined)).toEqual([2, 2])
})
