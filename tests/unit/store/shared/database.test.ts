import { expect, it } from 'vitest'
import { connectDatabase, openDatabase } from '../../../../src/store/shared/database.ts'

const NOBODY = 'mongodb://127.0.0.1:9/postonce?replicaSet=rs0'

it('closing the database stops its connection attempts immediately', async () => {
  const database = connectDatabase(NOBODY)
  await database.close()
  await expect(database.connected).rejects.toMatchObject({ name: 'MongoTopologyClosedError' })
})

it('opening an unreachable database without patience fails without waiting', async () => {
  await expect(openDatabase(NOBODY)).rejects.toMatchObject({ name: 'MongooseServerSelectionError' })
})
