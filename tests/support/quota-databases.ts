import type { CallQuotas } from '../../src/platforms/shared/call-quota.ts'
import type { QuotaObserver } from '../../src/platforms/shared/quota-lots.ts'
import { createQuotaLedger } from '../../src/store/quotas/quota-ledger.ts'
import { openDatabase, type Database } from '../../src/store/shared/database.ts'
import { SILENT_QUOTA_OBSERVER } from './silent-quota-observer.ts'
import { testConfig } from './servers.ts'

/** A database with ledgers; every ledger stands for a process. */
export async function quotaDatabase() {
  const { MONGODB_URL: url } = testConfig()
  const database: Database = await openDatabase(url)
  const createLedger = (options?: Parameters<typeof createQuotaLedger>[1]) =>
    createQuotaLedger(database.connection, options)
  return {
    url,
    database,
    records: database.connection.collection<{ _id: string; removeAt: Date; pausedUntil?: Date }>('quotas'),
    createLedger,
    /** Returns the quotas of a process. */
    createQuotas: (observer: Partial<QuotaObserver> = {}): CallQuotas => ({
      ledger: createLedger(),
      observer: { ...SILENT_QUOTA_OBSERVER, ...observer },
    }),
    async close() {
      await database.connection.dropDatabase()
      await database.close()
    },
  }
}
