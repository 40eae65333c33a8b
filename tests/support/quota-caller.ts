/**
 * A process that makes bursts of calls through its call quota until it is killed: `node quota-caller.ts <MongoDB URL> <server URL>
 * <subject> <limit> <window in milliseconds> <seed>`. It writes one line once it has made a call.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createChance } from '../../sandbox/chance.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import { createCallWindows } from '../../src/store/quotas/call-windows.ts'
import { openDatabase } from '../../src/store/shared/database.ts'
import { quotaProcess, SILENT_QUOTA_OBSERVER } from './quota-server.ts'

const [databaseUrl, serverUrl, key, limit, windowMs, seed] = process.argv.slice(2) as [string, string, ...string[]]
const limits = [{ span: 'short', limit: Number(limit), windowMs: Number(windowMs) }]
const LARGEST_BURST = 12
const LONGEST_REST_MS = 400

const chance = createChance(Number(seed))
const { connection } = await openDatabase(databaseUrl)
const { call } = quotaProcess({
  url: new URL(serverUrl),
  quotas: { windows: createCallWindows(connection), observer: SILENT_QUOTA_OBSERVER },
})

for (let isFirst = true; ;) {
  const purpose = chance.is(0.4) ? 'publishing' : 'counting'
  const burst = Array.from({ length: chance.between(1, LARGEST_BURST) }, async () => {
    try {
      await call(purpose, [{ key: key!, limits }])
      if (isFirst) process.stdout.write('called\n')
      isFirst = false
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
    }
  })
  await Promise.all(burst)
  await delay(chance.between(0, LONGEST_REST_MS))
}
