import { expect, it } from 'vitest'
import { connectDatabase, openDatabase } from '../../../../src/store/shared/database.ts'

const NOBODY = 'mongodb://127.0.0.1:9/postonce?replicaSet=rs0'

it('stops looking for a database at once when it is closed', async () => {
  const database = connectDatabase(NOBODY)
  await database.close()
  await expect(database.connected).rejects.toMatchObject({ name: 'MongoTopologyClosedError' })
})

it('does not wait for a database where it must answer now', async () => {
  await expect(openDatabase(NOBODY)).rejects.toMatchObject({ name: 'MongooseServerSelectionError' })
})
