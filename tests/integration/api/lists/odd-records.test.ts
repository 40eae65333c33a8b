import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inventHistory, storeHistory } from '../../../../sandbox/analytics-history.ts'
import { apiWorld, createAccount, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { createTestKey, getSessionId } from '../../../support/api-keys.ts'
import { planTestImport } from '../../../support/imports.ts'
import { storeNotifications } from '../../../support/notifications.ts'
import { connectAccounts } from '../../../support/published.ts'
import { openTestSession } from '../../../support/sessions.ts'
import { createWebhook } from '../../../../src/commands/webhooks/create-webhook.ts'
import { sendTestEvent } from '../../../../src/commands/webhooks/redeliver.ts'
import { newId } from '../../../../src/store/shared/schema.ts'

type StoredRecord = Record<string, unknown> & { _id: string }

/** A list, with the collection of its records. */
interface List {
  url: string
  collection: string
  /** The records of the list; all of the user by default. */
  filter?: object
}

let world: ApiWorld
let who: SignedIn
let webhookId: string
let importId: string

beforeAll(async () => {
  world = await apiWorld()
  const { context } = world
  // An admin has all lists of users as well.
  who = await signIn(context, { role: 'admin' })
  const { user } = who
  const others = await Promise.all([createAccount(context), createAccount(context)])
  await connectAccounts(context, user._id, ['bluesky', 'mastodon'])
  await openTestSession(context, user)
  await openTestSession(context, user)
  await storeNotifications(context, user._id, 2)
  await Promise.all([createTestKey(context, who), createTestKey(context, who)])
  const row = { content: { text: 'A draft' }, selectedPlatforms: ['bluesky' as const], status: 'DRAFT' as const }
  importId = (await planTestImport(context, user._id, [row, row]))._id
  await planTestImport(context, user._id, [row])
  for (const url of ['https://one.example.com', 'https://two.example.com']) {
    webhookId = (await createWebhook(context, { userId: user._id, url, description: '', events: [] })).webhook._id
  }
  await sendTestEvent(context, { userId: user._id, webhookId })
  await sendTestEvent(context, { userId: user._id, webhookId })
  for (const { _id } of others) {
    await send('PATCH', `/api/admin/update-user-activity/${_id}`, { activity: false })
    const about = { type: 'account', postId: null, userId: newId(), platform: 'bluesky', accountId: null } as const
    await context.deadLetters.add([about], 'transient: It did not answer', new Date())
    await send('POST', '/api/posts', row)
  }
})
afterAll(() => world?.close())

const send = (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) =>
  world.app.inject({ method, url, headers: who.headers, ...(payload && { payload }) })

const LISTS: Record<string, () => List> = {
  users: () => ({ url: '/api/admin/get-all-users', collection: 'users', filter: { _id: { $ne: who.user._id } } }),
  'a page of users': () => ({
    url: '/api/admin/get-all-users?limit=100',
    collection: 'users',
    filter: { _id: { $ne: who.user._id } },
  }),
  'the audit log': () => ({ url: '/api/admin/audit?limit=100', collection: 'auditLog', filter: {} }),
  'dead letters': () => ({ url: '/api/admin/dead-letters?limit=100', collection: 'deadLetters', filter: {} }),
  posts: () => ({ url: '/api/posts?include=metrics', collection: 'posts' }),
  'exported posts': () => ({ url: '/api/exports/posts?format=json', collection: 'posts' }),
  'posts of a CSV file': () => ({ url: '/api/exports/posts?format=csv', collection: 'posts' }),
  notifications: () => ({ url: '/api/notifications', collection: 'notifications' }),
  events: () => ({ url: '/api/events?after=0', collection: 'events', filter: { sequence: { $gt: 0 } } }),
  devices: () => ({ url: '/api/auth/devices', collection: 'sessions', filter: { _id: { $ne: getSessionId(who) } } }),
  keys: () => ({ url: '/api/keys', collection: 'apiKeys' }),
  webhooks: () => ({ url: '/api/webhooks', collection: 'webhooks' }),
  deliveries: () => ({ url: `/api/webhooks/${webhookId}/deliveries`, collection: 'webhookDeliveries' }),
  imports: () => ({ url: '/api/imports', collection: 'imports' }),
  rows: () => ({ url: `/api/imports/${importId}/rows`, collection: 'importRows', filter: { importId } }),
  accounts: () => ({ url: '/api/platform/accounts', collection: 'accounts' }),
  'default accounts': () => ({ url: '/api/platform/find', collection: 'accounts' }),
}

/** Values that no field of a record has, or `undefined` for a missing field. */
const ODD_VALUES = [undefined, null, 'odd', 7]

async function readList(url: string): Promise<string[]> {
  const response = await send('GET', url)
  expect(response.statusCode, `${url}: ${response.body}`).toBe(200)
  if (url.endsWith('csv')) return response.body.trim().split(/\r?\n/).slice(1)
  const body = response.json()
  const data = body.data ?? body
  const items = Array.isArray(data) ? data : (Object.values(data).find(Array.isArray) ?? Object.values(data))
  return (items as unknown[]).map((item) => JSON.stringify(item))
}

describe('a list with an odd record', () => {
  it.each(Object.keys(LISTS))('an odd record does not hide the others: %s', async (name) => {
    const { url, collection, filter = {} } = LISTS[name]!()
    const isOwn = !('_id' in filter) && Object.keys(filter).length === 0 && !url.includes('/admin/')
    const records = world.context.database.connection.collection<StoredRecord>(collection)
    const scope = isOwn || !url.includes('/admin/') ? { userId: who.user._id } : {}
    const [odd] = await records
      .find({ ...scope, ...filter })
      .sort({ _id: -1 })
      .toArray()
    const before = await readList(url)
    await records.deleteOne({ _id: odd!._id })
    const others = await readList(url)
    expect(others.length).toBeGreaterThan(0)
    expect(before.length).toBeGreaterThanOrEqual(others.length)
    for (const field of Object.keys(odd!).filter((one) => one !== '_id' && one !== 'userId')) {
      for (const value of ODD_VALUES) {
        const { [field]: _, ...rest } = odd!
        const isStored = await records
          .insertOne({ ...rest, ...(value !== undefined && { [field]: value }) } as never)
          .then(
            () => true,
            // An index refuses some values.
            () => false,
          )
        if (!isStored) continue
        const listed = await readList(url)
        expect(listed, `${field}: ${JSON.stringify(value)}`).toEqual(expect.arrayContaining(others))
        await records.deleteOne({ _id: odd!._id })
      }
    }
    await records.insertOne(odd!)
  })
})

it('an odd event does not hide the others of a timeline', async () => {
  const row = { content: { text: 'A draft' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }
  const { postId } = (await send('POST', '/api/posts', row)).json().data
  await send('PATCH', `/api/posts/${postId}`, { content: { text: 'Changed' } })
  const posts = world.context.database.connection.collection<StoredRecord>('posts')
  for (const url of [`/api/posts/${postId}/timeline`, `/api/admin/posts/${postId}/timeline`]) {
    const [odd, ...others] = await readList(url)
    expect(others.length).toBeGreaterThan(0)
    const { at, type } = JSON.parse(odd!) as { at: string; type: string }
    for (const [field, value] of Object.entries({ at: new Date(at), type })) {
      const path = `timeline.0.${field}`
      for (const other of ODD_VALUES) {
        await posts.updateOne(
          { _id: postId },
          other === undefined ? { $unset: { [path]: 1 } } : { $set: { [path]: other } },
        )
        expect(await readList(url), `${field}: ${other}`).toEqual(expect.arrayContaining(others))
      }
      await posts.updateOne({ _id: postId }, { $set: { [path]: value } })
    }
  }
})

it('an odd post does not hide the others that wait for a disconnected account', async () => {
  const { context, app } = world
  const { user, headers } = await signIn(context)
  await connectAccounts(context, user._id, ['bluesky'])
  const payload = { content: { text: 'A draft' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }
  const create = async (): Promise<string> =>
    (await app.inject({ method: 'POST', url: '/api/posts', headers, payload })).json().data.postId
  const [odd, other] = [await create(), await create()]
  const posts = context.database.connection.collection<StoredRecord>('posts')
  await posts.updateOne({ _id: odd }, { $set: { scheduledAt: 'odd' } })
  const url = '/api/platform/bluesky/disconnect'
  const response = await app.inject({ method: 'DELETE', url, headers })
  expect([response.statusCode, response.json().data.waitingPosts]).toMatchObject([200, [{ postId: other }]])
})

describe('the analytics of a user with an odd record', () => {
  const COLLECTIONS = ['posts', 'postSnapshots', 'accountSnapshots']
  const READS = ['overview', 'timeline', 'growth', 'posts/top?limit=100', 'platforms', 'heatmap']

  it.each(COLLECTIONS)('every read is answered: %s', async (collection) => {
    const { context, app } = world
    const [history] = [
      ...inventHistory(
        { users: 1, posts: 6, snapshots: 4 },
        { seed: COLLECTIONS.indexOf(collection), end: new Date() },
      ),
    ]
    const { headers } = await signIn(context, { _id: history!.userId })
    await storeHistory(context.database.connection, history!)
    const records = context.database.connection.collection<StoredRecord>(collection)
    // The newest, which every read of snapshots uses.
    const odd = (await records.findOne({ userId: history!.userId }, { sort: { takenAt: -1, _id: -1 } }))!
    const { userId } = history!
    const readTop = async () => {
      await context.users.raiseAnalyticsVersion(userId)
      const responses = await Promise.all(
        READS.map((read) => app.inject({ method: 'GET', url: `/api/analytics/${read}`, headers })),
      )
      const failed = READS.filter((_, index) => responses[index]!.statusCode !== 200)
      const top = responses[3]!.json().data as { postId: string; platform: string }[]
      return { failed, top: top.map(({ postId, platform }) => `${postId} ${platform}`) }
    }
    await records.deleteOne({ _id: odd._id })
    const others = (await readTop()).top
    const wrong: string[] = []
    for (const field of Object.keys(odd).filter((one) => one !== '_id' && one !== 'userId')) {
      for (const value of ODD_VALUES) {
        const { [field]: _, ...rest } = odd
        await records.insertOne({ ...rest, ...(value !== undefined && { [field]: value }) } as never)
        const { failed, top } = await readTop()
        if (failed.length > 0 || !others.every((one) => top.includes(one)))
          wrong.push(`${field}: ${value} ${failed.join()}`)
        await records.deleteOne({ _id: odd._id })
      }
    }
    expect(wrong).toEqual([])
  })
})
