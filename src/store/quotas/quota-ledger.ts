import { Schema, type Connection } from 'mongoose'
import {
  computeFree,
  computeWaitMs,
  type Lease,
  type LeaseRequest,
  type QuotaLedger,
  type QuotaRecord,
} from '../../domain/quotas/lease.ts'
import { batcher, anyOf } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'
import { leasePipeline, type Expression } from './lease-pipeline.ts'

const COLLECTION = 'quotas'
const LARGEST_BATCH = 500

interface StoredQuota extends QuotaRecord {
  /** The key of the subject. It is unique on every shard, and reveals no account. */
  _id: string
  /** The time of the database. */
  leasedAt: Date
  /** The last lease of each lessee. */
  lessees: { lessee: string; lease: number; publishing: number; counting: number; underway: number; until: Date }[]
  removeAt: Date
}

const quotaSchema = new Schema(
  {
    _id: required(String),
    leasedAt: Date,
    pausedUntil: Date,
    spans: Object,
    lessees: [Object],
    removeAt: required(Date),
  },
  schemaOptions,
)
quotaSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

interface Options {
  /** Returns the expression for the current time. By default the clock of the database counts, not that of a worker. */
  now?: () => Expression
}

/**
 * Leases the quotas of platforms to processes (ADR "One ledger of call quotas for all processes"). The leases that are requested in
 * one turn share one command for their updates and one for their results.
 */
export function createQuotaLedger(connection: Connection, { now = () => '$$NOW' }: Options = {}): QuotaLedger {
  connection.model('Quota', quotaSchema, COLLECTION)
  const quotas = nativeCollection<StoredQuota>(connection, COLLECTION)
  let leases = 0

  async function readAll(requests: LeaseRequest[]): Promise<Map<string, StoredQuota>> {
    const ids = [...new Set(requests.map(({ key }) => key))]
    const found = await quotas()
      .find({ _id: anyOf(ids) }, { projection: { pausedUntil: 1, spans: 1, lessees: 1, leasedAt: now() } })
      .toArray()
    return new Map(found.map((record) => [record._id, record]))
  }

  async function leaseOne(request: LeaseRequest, lease: number): Promise<Lease> {
    const record = await quotas().findOneAndUpdate(
      { _id: request.key },
      leasePipeline(request, { lease, now: now() }),
      { upsert: true, returnDocument: 'after' },
    )
    return toLease(request, record, lease)
  }

  const enqueue = batcher<Lease, LeaseRequest>(async (requests, settle) => {
    const first = leases + 1
    leases += requests.length
    if (requests.length === 1 && isWrite(requests[0]!)) {
      settle(0, await leaseOne(requests[0]!, first))
      return
    }
    const updates = requests.flatMap((request, index) => {
      const update = leasePipeline(request, { lease: first + index, now: now() })
      return isWrite(request) ? [{ updateOne: { filter: { _id: request.key }, update, upsert: true } }] : []
    })
    if (updates.length > 0) await quotas().bulkWrite(updates, { ordered: false })
    const records = await readAll(requests)
    requests.forEach((request, index) => {
      try {
        settle(index, toLease(request, records.get(request.key) ?? null, first + index))
      } catch (error) {
        settle(index, error as Error)
      }
    })
  }, LARGEST_BATCH)

  function toLease(request: LeaseRequest, record: StoredQuota | null, lease: number): Lease {
    if (!isWrite(request)) return toUnlimitedLease(request, record)
    const granted = record?.lessees.find((one) => one.lessee === request.lessee && one.lease === lease)
    if (!record || !granted) throw new Error('Another lease of the same quota was made before this one was read')
    const { limits } = request
    return {
      granted: { publishing: granted.publishing, counting: granted.counting },
      waitMs: {
        publishing: computeWaitMs({ limits, purpose: 'publishing' }, record, record.leasedAt),
        counting: computeWaitMs({ limits, purpose: 'counting' }, record, record.leasedAt),
      },
      isPaused: isPaused(record),
      spans: Object.fromEntries(
        limits.map((limit) => [limit.span, computeFree(limit, record.spans?.[limit.span], record.leasedAt)]),
      ),
    }
  }

  return { lease: enqueue }
}

/** Without a limit there is nothing to count; only a pause can stop the calls. */
function isWrite({ limits, pauseMs = 0 }: LeaseRequest): boolean {
  return limits.length > 0 || pauseMs > 0
}

function toUnlimitedLease({ publishing, counting }: LeaseRequest, record: StoredQuota | null): Lease {
  const wait = record ? computeWaitMs({ limits: [], purpose: 'publishing' }, record, record.leasedAt) : 0
  const granted = wait > 0 ? { publishing: 0, counting: 0 } : { publishing, counting }
  return { granted, waitMs: { publishing: wait, counting: wait }, isPaused: wait > 0, spans: {} }
}

function isPaused({ pausedUntil, leasedAt }: StoredQuota): boolean {
  return pausedUntil !== undefined && pausedUntil !== null && pausedUntil > leasedAt
}
