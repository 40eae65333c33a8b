import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallLimit } from '../../../src/domain/quotas/limits.ts'
import type { PublicationTurn } from '../../../src/domain/quotas/publications.ts'
import { createPublicationLedger } from '../../../src/store/quotas/publication-ledger.ts'
import { DAY, HOUR, SECOND } from '../../../src/domain/shared/times.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'

let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase()
})
afterAll(() => database.close())

const TEN: CallLimit[] = [{ span: 'day', limit: 10, windowMs: DAY }]

/** Ledgers of several processes with one clock that the test sets. */
function world(processes = 1) {
  let clock = Date.parse('2026-05-01T10:00:00Z')
  const key = unique('account')
  const now = () => new Date(clock)
  const { connection } = database.database
  const ledgers = Array.from({ length: processes }, () => createPublicationLedger(connection, { now }))
  const dueAt = new Date(clock)
  return {
    key,
    dueAt,
    now,
    pass: (ms: number) => void (clock += ms),
    ledger: ledgers[0]!,
    request: (id: string, process = 0, dueMs = 0) =>
      ledgers[process]!.request(key, {
        id,
        dueAt: new Date(dueAt.getTime() + dueMs),
        limits: TEN,
        arrivalMs: SECOND,
      }),
    findRecord: () => connection.collection<{ _id: string; removeAt: Date }>('publicationQuotas').findOne({ _id: key }),
  }
}

const isGranted = (turn: PublicationTurn) => 'grant' in turn

describe('the ledger of publications', () => {
  it('grants no more than the limit to processes that ask concurrently', async () => {
    const { request } = world(4)
    const turns = await Promise.all(Array.from({ length: 40 }, (_, index) => request(`post ${index}`, index % 4)))
    expect(turns.filter(isGranted)).toHaveLength(10)
  })

  it('grants what is due first, whichever process asks', async () => {
    const { request, ledger, key, dueAt, pass } = world(2)
    await ledger.report(key, [{ span: 'day', limit: 10, remaining: 0, resetsInMs: HOUR }])
    const due = [3, 1, 2, 0]
    const waits = await Promise.all(due.map((dueMs) => request(`due ${dueMs}`, dueMs % 2, dueMs)))
    expect(waits.some(isGranted)).toBe(false)
    const { record } = (await ledger.read([key])).get(key)!
    expect(record.waiting.map(({ id }) => id)).toEqual(['due 0', 'due 1', 'due 2', 'due 3'])
    expect(record.waiting[0]!.dueAt).toEqual(dueAt)
    pass(HOUR)
    await ledger.report(key, [{ span: 'day', limit: 10, remaining: 1, resetsInMs: HOUR }])
    const turns = await Promise.all([2, 1, 3, 0].map(async (dueMs) => [dueMs, await request(`due ${dueMs}`, 0, dueMs)]))
    expect(turns.filter(([, turn]) => isGranted(turn as PublicationTurn)).map(([dueMs]) => dueMs)).toEqual([0])
  })

  it('grants again what was taken back, and what has passed a window', async () => {
    const { request, ledger, key, pass } = world()
    const turns = await Promise.all(Array.from({ length: 10 }, (_, index) => request(`post ${index}`)))
    const [first] = turns
    if (first && 'grant' in first) await ledger.takeBack(key, first.grant)
    expect(isGranted(await request('another'))).toBe(true)
    const refused = await request('late')
    expect(refused).toMatchObject({ limit: { limit: 10, windowMs: DAY } })
    pass('waitMs' in refused ? refused.waitMs : 0)
    expect(isGranted(await request('late'))).toBe(true)
  })

  it('returns unused quotas with the time of the database', async () => {
    const { ledger, key, now } = world()
    const states = await ledger.read([key, unique('account')])
    expect([...states.values()]).toMatchObject(Array(2).fill({ record: { spans: {}, waiting: [] }, now: now() }))
    const real = createPublicationLedger(database.database.connection)
    const [state] = (await real.read([key])).values()
    expect(Math.abs(state!.now.getTime() - Date.now())).toBeLessThan(HOUR)
  })

  it('removes a record only after all of it has stopped to count', async () => {
    const { request, findRecord, now } = world()
    await Promise.all(Array.from({ length: 10 }, (_, index) => request(`post ${index}`)))
    const refused = await request('waiting')
    const waitMs = 'waitMs' in refused ? refused.waitMs : 0
    expect((await findRecord())!.removeAt.getTime()).toBeGreaterThan(now().getTime() + waitMs)
  })
})
