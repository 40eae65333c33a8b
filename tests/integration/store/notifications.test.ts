import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewNotification } from '../../../src/domain/notifications/notifications.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import {
  createNotificationStore,
  type Notification,
  type Sending,
} from '../../../src/store/notifications/notifications.ts'
import { testConfig, unique } from '../../support/servers.ts'

let database: Database
const lookups: number[] = []
const begun: string[] = []
let now = new Date()
const [withDevice, without, unlisted] = [unique('with'), unique('without'), unique('unlisted')]
let store: ReturnType<typeof createNotificationStore>
beforeAll(async () => {
  database = await openDatabase(testConfig().MONGODB_URL)
  const sending: Sending = {
    async findRoutes(notifications) {
      lookups.push(notifications.length)
      return notifications.map(({ userId }) => ({
        isListed: userId !== unlisted,
        isPushed: userId === withDevice,
        mail: null,
      }))
    },
    mails: { insertMissing: async () => undefined },
    begin: (records) =>
      void begun.push(
        ...records
          .map(({ notification }) => notification)
          .filter(({ push }) => push.state === 'waiting')
          .map(({ userId }) => userId),
      ),
  }
  store = createNotificationStore(database.connection, () => now, { sending, readRetentionMs: 90 * DAY })
  await database.createSchema()
})
afterAll(() => database?.close())

const notificationFor = (userId: string, dedupeKey = unique('event')): NewNotification => ({
  userId,
  dedupeKey,
  kind: 'postWarning',
  message: 'Something happened',
  type: 'info',
  reference: { type: 'post', id: 'x', model: 'Post' },
  options: {},
})

it('routes are looked up once for all notifications stored together, and only owners of devices get pushes', async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => store.insertOnce(notificationFor(index % 2 ? withDevice : without))),
  )
  expect(lookups).toEqual([50])
  expect(begun).toEqual(Array.from({ length: 25 }, () => withDevice))
})

it('a repeated event is not pushed again', async () => {
  const news = notificationFor(withDevice)
  await store.insertOnce(news)
  const before = begun.length
  expect(await store.insertOnce(news)).toBe(false)
  expect(begun).toHaveLength(before)
})

it('notifications of a transaction are pushed after its commit, and not after an abort', async () => {
  const before = begun.length
  const records = await store.toRecords([notificationFor(withDevice), notificationFor(without)])
  const failing = database.transaction(async (session) => {
    await store.insert(records, session)
    throw new Error('came to nothing')
  })
  await expect(failing).rejects.toThrow('came to nothing')
  expect(begun).toHaveLength(before)
  await database.transaction((session) => store.insert(records, session))
  store.beginSending(records)
  expect(begun).toHaveLength(before + 1)
})

it('a notification that is not listed is stored as read, once per event', async () => {
  const news = notificationFor(unlisted)
  expect(await store.insertOnce(news)).toBe(true)
  expect(await store.insertOnce(news)).toBe(false)
  expect(await store.page(unlisted, { page: 1, limit: 20, isUnread: false })).toEqual({
    notifications: [],
    total: 0,
    unread: 0,
  })
  expect(await store.listOf(unlisted, 20)).toEqual([])
  const [record] = await database.connection.collection('notifications').find({ userId: unlisted }).toArray()
  expect(record).toMatchObject({ read: true, removeAt: expect.any(Date) })
})

describe('read notifications', () => {
  const storedOf = (userId: string) =>
    database.connection.collection('notifications').find({ userId }).sort({ _id: 1 }).toArray()

  it('a notification expires 90 days after it was first read, and an unread one never', async () => {
    const userId = unique('reader')
    const [record] = await store.toRecords([notificationFor(userId), notificationFor(userId)])
    await database.connection.collection<Notification>('notifications').insertOne(record!.notification)
    await store.insertOnce(notificationFor(userId))
    const firstReadAt = now
    expect(await store.markRead(userId, record!.notification._id)).toMatchObject({ read: true })
    now = new Date(firstReadAt.getTime() + DAY)
    expect(await store.markRead(userId, record!.notification._id)).toMatchObject({ read: true })
    const expired = (await storedOf(userId)).map(({ removeAt }) => removeAt)
    expect(expired).toEqual([new Date(firstReadAt.getTime() + 90 * DAY), undefined])
    expect(await store.markAllRead(userId)).toBe(1)
    expect((await storedOf(userId))[1]).toMatchObject({ removeAt: new Date(now.getTime() + 90 * DAY) })
    expect(await store.markRead(userId, unique('unknown'))).toBeNull()
  })

  it('the database removes notifications at their time', async () => {
    const indexes = await database.connection.collection('notifications').indexes()
    expect(indexes).toContainEqual(expect.objectContaining({ key: { removeAt: 1 }, expireAfterSeconds: 0 }))
  })
})
