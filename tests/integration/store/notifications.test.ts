import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewNotification } from '../../../src/domain/notifications/notifications.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { createNotificationStore, type Notification } from '../../../src/store/notifications/notifications.ts'
import { testConfig, unique } from '../../support/servers.ts'

let database: Database
const lookups: string[][] = []
const begun: string[] = []
let now = new Date()
const [withDevice, without] = [unique('with'), unique('without')]
let store: ReturnType<typeof createNotificationStore>
beforeAll(async () => {
  database = await openDatabase(testConfig().MONGODB_URL)
  const pushing = {
    async findDeviceOwners(userIds: string[]) {
      lookups.push(userIds)
      return new Set([withDevice])
    },
    begin: (notifications: Notification[]) => void begun.push(...notifications.map(({ userId }) => userId)),
  }
  store = createNotificationStore(database.connection, () => now, { pushing, readRetentionMs: 90 * DAY })
  await database.createSchema()
})
afterAll(() => database?.close())

const notificationFor = (userId: string, dedupeKey = unique('event')): NewNotification => ({
  userId,
  dedupeKey,
  message: 'Something happened',
  type: 'info',
  reference: { type: 'post', id: 'x', model: 'Post' },
  options: {},
})

it('devices are looked up once for all notifications stored together, and only their owners get pushes', async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => store.insertOnce(notificationFor(index % 2 ? withDevice : without))),
  )
  expect(lookups).toEqual([expect.arrayContaining([withDevice, without])])
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
  store.startPushes(records)
  expect(begun).toHaveLength(before + 1)
})

describe('read notifications', () => {
  const storedOf = (userId: string) =>
    database.connection.collection('notifications').find({ userId }).sort({ _id: 1 }).toArray()

  it('a notification expires 90 days after it was first read, and an unread one never', async () => {
    const userId = unique('reader')
    const [first] = await store.toRecords([notificationFor(userId), notificationFor(userId)])
    await database.connection.collection<Notification>('notifications').insertOne(first!)
    await store.insertOnce(notificationFor(userId))
    const firstReadAt = now
    expect(await store.markRead(userId, first!._id)).toMatchObject({ read: true })
    now = new Date(firstReadAt.getTime() + DAY)
    expect(await store.markRead(userId, first!._id)).toMatchObject({ read: true })
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
