import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { testConfig, unique } from '../../support/servers.ts'

let database: Database
beforeAll(async () => {
  database = await openDatabase(testConfig().MONGODB_URL)
})
afterAll(() => database?.close())

const records = () => database.connection.collection<{ _id: string; count: number }>('records')

async function newRecord(): Promise<string> {
  const _id = unique('user')
  await records().insertOne({ _id, count: 0 })
  return _id
}

it('transactions of one user run in turn, so that none of them has to be repeated', async () => {
  const userId = await newRecord()
  let tries = 0
  await Promise.all(
    Array.from({ length: 35 }, () =>
      database.transaction(async (session) => {
        tries += 1
        await records().updateOne({ _id: userId }, { $inc: { count: 1 } }, { session })
      }, userId),
    ),
  )
  expect([tries, (await records().findOne({ _id: userId }))!.count]).toEqual([35, 35])
})

it('a transaction does not wait for those of another user, and runs after a failed transaction of the same user', async () => {
  const [one, other] = [await newRecord(), await newRecord()]
  const open = Promise.withResolvers<void>()
  const waiting = database.transaction(() => open.promise, one)
  await database.transaction(async () => {}, other)
  open.reject(new Error('came to nothing'))
  await expect(waiting).rejects.toThrow('came to nothing')
  await database.transaction(async () => {}, one)
})
