import { openDatabase, type Database } from '../../src/store/shared/database.ts'
import { createQuotaLedger } from '../../src/store/quotas/quota-ledger.ts'
import { testConfig } from './servers.ts'

/** A database with ledgers; every ledger stands for a process. */
export async function quotaDatabase() {
  const { MONGODB_URL: url } = testConfig()
  const database: Database = await openDatabase(url)
  return {
    url,
    quotas: database.connection.collection<{ _id: string; removeAt: Date }>('quotas'),
    createLedger: (options?: Parameters<typeof createQuotaLedger>[1]) =>
      createQuotaLedger(database.connection, options),
    async close() {
      await database.connection.dropDatabase()
      await database.close()
    },
  }
}
