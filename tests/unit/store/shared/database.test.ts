import { expect, it } from 'vitest'
import { connectDatabase, openDatabase } from '../../../../src/store/shared/database.ts'

const UNREACHABLE = 'mongodb://127.0.0.1:9/postonce?replicaSet=rs0'

it('closing the database stops its connection attempts immediately', async () => {
  const database = connectDatabase(UNREACHABLE)
  await database.close()
  await expect(database.connected).rejects.toMatchObject({ name: 'MongoTopologyClosedError' })
})

it('opening an unreachable database without patience fails without waiting', async () => {
  await expect(openDatabase(UNREACHABLE)).rejects.toMatchObject({ name: 'MongooseServerSelectionError' })
})
