import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { Conflict } from '../../domain/imports/conflicts.ts'
import {
  IMPORT_FORMATS,
  IMPORT_STATES,
  MAX_IMPORTS,
  NO_ROWS,
  PLANNED_STATUSES,
  ROW_STATUSES,
  type ImportState,
  type PlannedStatus,
  type PostImport,
  type RowCounts,
  type RowStatus,
} from '../../domain/imports/imports.ts'
import type { PostGroup } from '../../domain/posts/post.ts'
import type { ChosenAccount } from '../../domain/posts/targets.ts'
import { parseOwnerId } from '../../domain/media/storage-keys.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

/** A row of an import. */
export interface ImportRow<Input = unknown> {
  /** `toRowId`. */
  _id: string
  userId: string
  importId: string
  /** Counted from 1, without the header. */
  row: number
  status: RowStatus
  /** The body of `POST /api/posts`; null for a row that has none, and once the post is created. */
  input: Input | null
  /** The accounts that the selected platforms and groups meant when the import was planned. */
  planned: { accounts: ChosenAccount[]; groups: PostGroup[] }
  /** Storage keys of the input. */
  mediaKeys: string[]
  errors: Problem[]
  warnings: Problem[]
  conflicts: Conflict[]
  postId: string | null
  removeAt: Date
}

/** The findings that the comparison of all rows adds to one. */
export type RowFindings = Pick<ImportRow, 'row' | 'status' | 'conflicts' | 'warnings'>

/** The result of creating the post of a row. */
export type RowResult = { row: number } & (
  { status: 'created'; postId: string } | { status: 'failed'; errors: Problem[] }
)

const importSchema = new Schema<PostImport>(
  {
    _id: required(String),
    userId: required(String),
    state: { type: String, enum: IMPORT_STATES, required: true },
    pausedBecause: nullable(String),
    format: { type: String, enum: IMPORT_FORMATS, required: true },
    gapMinutes: required(Number),
    timezone: required(String),
    source: required(String),
    counts: { type: Object, required: true },
    posts: { type: Object, required: true },
    allowance: { type: Object, required: true },
    options: nullable(Object),
    createdAt: required(Date),
    updatedAt: required(Date),
    leasedUntil: required(Date),
    removeAt: required(Date),
  },
  schemaOptions,
)
importSchema.index({ userId: 1, createdAt: -1 })
importSchema.index({ leasedUntil: 1 }, { partialFilterExpression: { state: 'applying' } })
importSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const rowSchema = new Schema<ImportRow>(
  {
    _id: required(String),
    userId: required(String),
    importId: required(String),
    row: required(Number),
    status: { type: String, enum: ROW_STATUSES, required: true },
    input: nullable(Object),
    planned: { type: Object, required: true },
    mediaKeys: [String],
    errors: [Object],
    warnings: [Object],
    conflicts: [Object],
    postId: nullable(String),
    removeAt: required(Date),
  },
  { ...schemaOptions, suppressReservedKeysWarning: true },
)
rowSchema.index({ userId: 1, importId: 1, row: 1 })
rowSchema.index({ userId: 1, importId: 1, status: 1, row: 1 })
// Rows that keep uploads in use.
rowSchema.index({ userId: 1, mediaKeys: 1 }, { partialFilterExpression: { mediaKeys: { $gt: '' } } })
rowSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

/** Stores imports and their rows. Rows without an import were left by a request that ended early, and expire. */
export function createImportStore(connection: Connection) {
  connection.model<PostImport>('Import', importSchema, 'imports')
  connection.model<ImportRow>('ImportRow', rowSchema, 'importRows')
  const imports = nativeCollection<PostImport>(connection, 'imports')
  const rows = nativeCollection<ImportRow>(connection, 'importRows')

  return {
    /** Returns false when the user has the largest number of imports. Callers lock the user, so that concurrent calls are counted. */
    async insert(planned: PostImport, session: ClientSession): Promise<boolean> {
      const count = await imports().countDocuments({ userId: planned.userId }, { session })
      if (count >= MAX_IMPORTS) return false
      await imports().insertOne(planned, { session })
      return true
    },

    count: (userId: string): Promise<number> => imports().countDocuments({ userId }),

    /** The imports of the user, newest first. */
    listOf: (userId: string): Promise<PostImport[]> =>
      imports().find({ userId }).sort({ createdAt: -1, _id: -1 }).toArray(),

    findOwned: (userId: string, importId: string): Promise<PostImport | null> =>
      imports().findOne({ _id: importId, userId }),

    /** Applies a change if the import is still in this state. Returns null when it is not. */
    changeIf: (
      { userId, _id }: Pick<PostImport, 'userId' | '_id'>,
      state: ImportState,
      change: Partial<PostImport>,
    ): Promise<PostImport | null> =>
      imports().findOneAndUpdate({ _id, userId, state }, { $set: change }, { returnDocument: 'after' }),

    /** Extends the lease of an import that is being applied. Returns null when it is not. */
    lease: (userId: string, importId: string, leasedUntil: Date): Promise<PostImport | null> =>
      imports().findOneAndUpdate(
        { _id: importId, userId, state: 'applying' },
        { $set: { leasedUntil } },
        { returnDocument: 'after' },
      ),

    /** Counts the rows of an import again, so that a repeated call changes nothing. */
    async updateCounts(userId: string, importId: string, updatedAt: Date): Promise<void> {
      const groups = await rows()
        .aggregate<{ _id: RowStatus; count: number }>([
          { $match: { userId, importId } },
          { $group: { _id: '$status', count: { $sum: 1 } } },
        ])
        .toArray()
      const counts: RowCounts = { ...NO_ROWS, ...Object.fromEntries(groups.map(({ _id, count }) => [_id, count])) }
      await imports().updateOne({ _id: importId, userId }, { $set: { counts, updatedAt } })
    },

    /** Imports that are being applied and whose lease ended before `since`, oldest first. */
    listUnleased: (since: Date, limit: number): Promise<PostImport[]> =>
      imports()
        .find({ state: 'applying', leasedUntil: { $lt: since } })
        .sort({ leasedUntil: 1 })
        .limit(limit)
        .toArray(),

    /** Deletes an import with its rows. Returns false when the user has no such import. */
    async remove(userId: string, importId: string): Promise<boolean> {
      const { deletedCount } = await imports().deleteOne({ _id: importId, userId })
      await rows().deleteMany({ userId, importId })
      return deletedCount === 1
    },

    async removeAllOf(userId: string): Promise<void> {
      await imports().deleteMany({ userId })
      await rows().deleteMany({ userId })
    },

    async insertRows(inserted: ImportRow[]): Promise<void> {
      await rows().insertMany(inserted, { ordered: false })
    },

    /** Adds findings to rows. */
    async addFindings(userId: string, importId: string, findings: readonly RowFindings[]): Promise<void> {
      await rows().bulkWrite(
        findings.map(({ row, status, conflicts, warnings }) => ({
          updateOne: {
            filter: { userId, importId, row },
            update: { $set: { status, conflicts }, $push: { warnings: { $each: warnings } } },
          },
        })),
        { ordered: false },
      )
    },

    /** The rows after a number, in order; in all statuses unless some are given. */
    listRows: (
      userId: string,
      importId: string,
      { after, limit, statuses }: { after: number; limit: number; statuses?: readonly RowStatus[] },
    ): Promise<ImportRow[]> =>
      rows()
        .find({ userId, importId, row: { $gt: after }, ...(statuses && { status: { $in: [...statuses] } }) })
        .sort({ row: 1 })
        .limit(limit)
        .toArray(),

    /** Records results of rows. The posts hold the content of created rows from then on. */
    async recordResults(userId: string, importId: string, results: readonly RowResult[]): Promise<void> {
      if (results.length === 0) return
      await rows().bulkWrite(
        results.map(({ row, ...result }) => ({
          updateOne: {
            filter: { userId, importId, row, status: { $in: [...PLANNED_STATUSES] } },
            update: { $set: { ...result, ...(result.status === 'created' && { input: null }), mediaKeys: [] } },
          },
        })),
        { ordered: false },
      )
    },

    async skipRows(userId: string, importId: string, statuses: readonly PlannedStatus[]): Promise<void> {
      const filter = { userId, importId, status: { $in: [...statuses] } }
      await rows().updateMany(filter, { $set: { status: 'skipped', mediaKeys: [] } })
    },

    /** Returns which of these media rows use whose posts are not created yet. */
    async findNamedMedia(storageKeys: string[]): Promise<Set<string>> {
      const owners = [...new Set(storageKeys.map(parseOwnerId))]
      const found = rows().find(
        { userId: { $in: owners }, mediaKeys: { $in: storageKeys } },
        { projection: { mediaKeys: 1 } },
      )
      const named = new Set<string>()
      for await (const { mediaKeys } of found) for (const key of mediaKeys) named.add(key)
      return named
    },

    /** All rows of the user as a stream. */
    allRowsOf: (userId: string): AsyncIterable<ImportRow> => rows().find({ userId }).sort({ importId: 1, row: 1 }),
  }
}

export type ImportStore = ReturnType<typeof createImportStore>
