import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NewNotification } from '../../../src/domain/notifications/notifications.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { createNotificationStore } from '../../../src/store/notifications/notifications.ts'
import { testConfig, unique } from '../../support/servers.ts'

let database: Database
const lookups: string[][] = []
const begun: string[] = []
const [withDevice, without] = [unique('with'), unique('without')]
let store: ReturnType<typeof createNotificationStore>
beforeAll(async () => {
  database = await openDatabase(testConfig().MONGODB_URL)
  store = createNotificationStore(database.connection, () => new Date(), {
    async findDeviceOwners(userIds) {
      lookups.push(userIds)
      return new Set([withDevice])
    },
    begin: (notifications) => void begun.push(...notifications.map(({ userId }) => userId)),
  })
  await database.createIndexes()
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
