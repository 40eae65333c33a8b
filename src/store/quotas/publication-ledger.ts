import { Schema, type Connection } from 'mongoose'
import {
  applyReports,
  requestPublications,
  takeBackPublication,
  UNUSED,
  type PublicationGrant,
  type PublicationLedger,
  type PublicationRecord,
  type PublicationReport,
  type PublicationRequest,
  type PublicationState,
  type PublicationTurn,
} from '../../domain/quotas/publications.ts'
import { DAY } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { anyOf, keyedBatcher } from '../shared/batching.ts'
import { getNativeDatabase, nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'
import type { Expression } from './call-windows.ts'

const COLLECTION = 'publicationQuotas'
const MAX_TRIES = 20
const LARGEST_BATCH = 500

interface StoredQuota extends PublicationRecord {
  /** The key of the account. It is unique on every shard, and reveals no account. */
  _id: string
  revision: number
  removeAt: Date
}

const publicationQuotaSchema = new Schema(
  { _id: required(String), revision: required(Number), spans: Object, waiting: [Object], removeAt: required(Date) },
  schemaOptions,
)
publicationQuotaSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

type Operation =
  | { kind: 'request'; request: PublicationRequest }
  | { kind: 'take back'; grant: PublicationGrant }
  | { kind: 'report'; reports: readonly PublicationReport[] }

interface Options {
  /** Returns the expression for the current time. By default the clock of the database counts, not that of a worker. */
  now?: () => Expression
}

/**
 * Grants the publications of accounts to all processes (ADR "Deliveries take turns under the publication quota of their account").
 * The operations of one account that meet in a process share a write, which is repeated when another process was faster.
 */
export function createPublicationLedger(
  connection: Connection,
  { now = () => '$$NOW' }: Options = {},
): PublicationLedger {
  connection.model('PublicationQuota', publicationQuotaSchema, COLLECTION)
  const quotas = nativeCollection<StoredQuota>(connection, COLLECTION)

  /** Reads records with the time of the database, which an account without a record has as well. */
  async function readAll(keys: readonly string[]): Promise<Map<string, PublicationState & { revision: number }>> {
    const [found] = await getNativeDatabase(connection)
      .aggregate<{ now: Date; records: StoredQuota[] }>([
        { $documents: [{ now: now() }] },
        { $lookup: { from: COLLECTION, pipeline: [{ $match: { _id: anyOf([...keys]) } }], as: 'records' } },
      ])
      .toArray()
    const { records, now: readAt } = found!
    const states = new Map(keys.map((key) => [key, { record: UNUSED, now: readAt, revision: 0 }]))
    for (const { _id, revision, spans, waiting } of records) {
      states.set(_id, { record: { spans, waiting }, now: readAt, revision })
    }
    return states
  }

  /** @returns false when another process changed the record since it was read */
  async function write(key: string, { spans, waiting }: PublicationRecord, revision: number, readAt: Date) {
    const stored = { revision: revision + 1, spans, waiting, removeAt: toRemoveAt({ spans, waiting }, readAt) }
    if (revision > 0) {
      const { matchedCount } = await quotas().updateOne({ _id: key, revision }, { $set: stored })
      return matchedCount === 1
    }
    try {
      await quotas().insertOne({ _id: key, ...stored })
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  const enqueue = keyedBatcher<PublicationTurn | null, Operation>(async (key, operations, settle) => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { record, now: readAt, revision } = (await readAll([key])).get(key)!
      const applied = applyAll(record, operations, readAt)
      if (!(await write(key, applied.record, revision, readAt))) continue
      applied.turns.forEach((turn, index) => settle(index, turn))
      return
    }
    throw new Error('The publication quota of an account was changed too often')
  }, LARGEST_BATCH)

  return {
    request: async (key, request) => (await enqueue(key, { kind: 'request', request }))!,
    takeBack: async (key, grant) => void (await enqueue(key, { kind: 'take back', grant })),
    report: async (key, reports) => void (await enqueue(key, { kind: 'report', reports })),
    read: (keys) => readAll(keys),
  }
}

/** Applies operations together: reports and returned grants first, then the requests in due order. */
function applyAll(stored: PublicationRecord, operations: readonly Operation[], now: Date) {
  let record = stored
  for (const operation of operations) {
    if (operation.kind === 'take back') record = takeBackPublication(record, operation.grant)
    if (operation.kind === 'report') record = applyReports(record, operation.reports, now)
  }
  const requests = operations.flatMap((operation) => (operation.kind === 'request' ? [operation.request] : []))
  const answered = requestPublications(record, requests, now)
  const granted = answered.turns.values()
  const turns = operations.map(({ kind }) => (kind === 'request' ? granted.next().value! : null))
  return { record: answered.record, turns }
}

/** A record without uses is removed after a day, and with it the limit that the platform reported. */
function toRemoveAt({ spans, waiting }: PublicationRecord, now: Date): Date {
  const uses = Object.values(spans).flatMap(({ counted, report }) => [
    ...counted.map(({ until }) => until),
    ...(report ? [report.until] : []),
  ])
  const ends = [...uses, ...waiting.map(({ until }) => until)].map((end) => end.getTime())
  return new Date(Math.max(now.getTime() + DAY, ...ends))
}
