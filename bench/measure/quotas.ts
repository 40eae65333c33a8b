import { createQuotaLedger } from '../../src/store/quotas/quota-ledger.ts'
import { openDatabase } from '../../src/store/shared/database.ts'
import type { CallQuotas } from '../../src/platforms/shared/call-quota.ts'
import { MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { quotaProcess, quotaServer } from '../../tests/support/quota-server.ts'
import { figureOfRounds, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { percentile } from '../stats.ts'
import type { World } from '../world.ts'
import { SILENT_QUOTA_OBSERVER } from '../../tests/support/silent-quota-observer.ts'

export interface QuotasSize {
  rounds: number
  /** Calls of one busy subject in a round. */
  calls: number
  /** Calls of as many subjects in a round. */
  lone: number
}

const IN_FLIGHT = 32
const NO_LIMIT = 1_000_000_000
const SIDES = ['bare', 'ours'] as const
type Rounds = Record<(typeof SIDES)[number], number[]>

/** Measures calls to a server in this process through the ledger of quotas, compared with the same calls without it. */
export async function measureQuotas(world: World, size: QuotasSize): Promise<Figure[]> {
  const { MONGODB_URL: url } = await world.config()
  const database = await openDatabase(url)
  const server = await quotaServer(() => ({ status: 200 }))
  const quotas: CallQuotas = { ledger: createQuotaLedger(database.connection), observer: SILENT_QUOTA_OBSERVER }
  const sides = {
    bare: quotaProcess({ url: server.url, quotas: undefined, connections: IN_FLIGHT }),
    ours: quotaProcess({ url: server.url, quotas, connections: IN_FLIGHT }),
  }
  const newSubject = () => ({ key: newId(), limits: [{ span: 'minutes', limit: NO_LIMIT, windowMs: 5 * MINUTE }] })
  const rates: Rounds = { bare: [], ours: [] }
  const lone: Rounds = { bare: [], ours: [] }
  try {
    await inTurns(SIDES, size.rounds, async (side) => {
      const { call } = sides[side]
      const busy = newSubject()
      // The rate of a busy subject is measured first, as in a process that has run for a while.
      for (const measured of [false, true]) {
        const startedAt = performance.now()
        await closedLoop(size.calls, IN_FLIGHT, async () => void (await call('publishing', [busy])))
        if (measured) rates[side].push((size.calls * SECOND) / (performance.now() - startedAt))
      }
      const times: number[] = []
      for (let index = 0; index < size.lone; index++) {
        const subject = newSubject()
        const startedAt = performance.now()
        await call('publishing', [subject])
        times.push(performance.now() - startedAt)
      }
      lone[side].push(percentile(times, 0.95))
    })
  } finally {
    await Promise.all([sides.bare.close(), sides.ours.close(), server.close(), database.close()])
  }
  return [
    figureOfRounds({
      group: 'quotas',
      name: `calls of one account through the ledger, ${IN_FLIGHT} in flight`,
      unit: 'calls/s',
      ours: rates.ours,
      baseline: rates.bare,
      aim: { text: 'at least 0.9', met: ({ ratio }) => ratio >= 0.9 },
    }),
    figureOfRounds({
      group: 'quotas',
      name: 'the first call of an account through the ledger, p95',
      unit: 'ms',
      ours: lone.ours,
      baseline: lone.bare,
    }),
  ]
}
