import { afterEach, describe, expect, it } from 'vitest'
import { claimDatabase } from '../../../sandbox/seed.ts'
import { createPostStore } from '../../../src/store/posts/posts.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { SCHEMA_VERSION, SchemaVersionError } from '../../../src/store/shared/schema-version.ts'
import { testConfig } from '../../support/servers.ts'

const opened: Database[] = []
afterEach(async () => {
  await opened[0]?.connection.dropDatabase()
  await Promise.all(opened.splice(0).map((database) => database.close()))
})

/** Opens connections to a new database, as many processes do. */
async function open(url: string, count = 1): Promise<Database[]> {
  const databases = await Promise.all(Array.from({ length: count }, () => openDatabase(url)))
  for (const { connection } of databases) createPostStore(connection, () => new Date())
  opened.push(...databases)
  return databases
}

async function openNew(): Promise<{ database: Database; url: string }> {
  const url = testConfig().MONGODB_URL
  const [database] = await open(url)
  return { database: database!, url }
}

const records = ({ connection }: Database, name: string) =>
  connection.collection<{ _id: string; version?: number }>(name)
const storeVersion = (database: Database, version: number) =>
  records(database, 'meta').insertOne({ _id: 'schema', version })
const namesOf = async ({ connection }: Database) =>
  (await connection.db!.listCollections().toArray()).map(({ name }) => name)

describe('the schema version of a database', () => {
  it('an empty database gets the version of this release, which any number of setups accept', async () => {
    const { database, url } = await openNew()
    expect(await database.readSchemaVersion()).toBeNull()
    const others = await open(url, 3)
    await Promise.all([database, ...others].map((one) => one.createSchema()))
    await records(database, 'posts').insertOne({ _id: 'post' })
    await database.createSchema()
    expect(await records(database, 'meta').find().toArray()).toEqual([{ _id: 'schema', version: SCHEMA_VERSION }])
    expect(await database.readSchemaVersion()).toBe(SCHEMA_VERSION)
  })

  it('a database with empty collections counts as empty', async () => {
    const { database } = await openNew()
    await database.connection.createCollection('posts')
    await database.createSchema()
    expect(await database.readSchemaVersion()).toBe(SCHEMA_VERSION)
  })

  it.each([
    ['an older version', SCHEMA_VERSION - 1, /schema version \d+ of an older release.*Run the release that wrote it/],
    ['a newer version', SCHEMA_VERSION + 1, /schema version \d+ of a newer release.*Run that release or a later one/],
  ])('a database of %s is refused and stays unchanged, with and without records', async (_name, version, message) => {
    const { database, url } = await openNew()
    await storeVersion(database, version)
    for (const names of [['meta'], ['drafts', 'meta']]) {
      if (names.includes('drafts')) await records(database, 'drafts').insertOne({ _id: 'draft' })
      const refused = await database.createSchema().catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(SchemaVersionError)
      expect((refused as Error).message).toMatch(message)
      await expect(claimDatabase(url)).rejects.toThrow('npm run dev -- --fresh')
      expect((await namesOf(database)).toSorted()).toEqual(names)
      expect(await database.readSchemaVersion()).toBe(version)
    }
  })

  it('a database with records and without a version is refused and stays unchanged', async () => {
    const { database, url } = await openNew()
    await records(database, 'platformAccounts').insertOne({ _id: 'account' })
    await expect(database.createSchema()).rejects.toThrow(/has records but no schema version.*Use an empty database/)
    await expect(claimDatabase(url)).rejects.toThrow('npm run dev -- --fresh')
    expect(await namesOf(database)).toEqual(['platformAccounts'])
  })
})
