import type { QuotaObserver } from '../../src/platforms/shared/call-counter.ts'
import type { CallQuotas } from '../../src/platforms/shared/call-quota.ts'
import { createCallWindows } from '../../src/store/quotas/call-windows.ts'
import { openDatabase, type Database } from '../../src/store/shared/database.ts'
import { SILENT_QUOTA_OBSERVER } from './quota-server.ts'
import { testConfig } from './servers.ts'

/** A database with call windows, one for each simulated process. Their clock has stopped, so that no window ends during a test. */
export async function quotaDatabase(openOptions?: Parameters<typeof openDatabase>[1]) {
  const { MONGODB_URL: url } = testConfig()
  const database: Database = await openDatabase(url, openOptions)
  const openedAt = new Date()
  const createWindows = (now = () => openedAt) => createCallWindows(database.connection, { now })
  return {
    url,
    database,
    openedAt,
    records: database.connection.collection<{ _id: string; removeAt: Date; pausedUntil?: Date }>('quotas'),
    createWindows,
    /** Returns the quotas of a process. */
    createQuotas: (observer: Partial<QuotaObserver> = {}): CallQuotas => ({
      windows: createWindows(),
      observer: { ...SILENT_QUOTA_OBSERVER, ...observer },
    }),
    async close() {
      await database.connection.dropDatabase()
      await database.close()
    },
  }
}
