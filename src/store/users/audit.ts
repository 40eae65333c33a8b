import { Schema, type ClientSession, type Connection } from 'mongoose'
import { AUDIT_ACTIONS, type AuditEntry } from '../../domain/users/audit.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

const LIST_DEADLINE_MS = 4 * SECOND

const auditSchema = new Schema<AuditEntry>(
  {
    _id: required(String),
    at: required(Date),
    actorId: required(String),
    action: { type: String, enum: AUDIT_ACTIONS, required: true },
    subjectId: required(String),
    before: required(Schema.Types.Mixed),
    after: required(Schema.Types.Mixed),
    requestId: nullable(String),
    ipAddress: nullable(String),
  },
  schemaOptions,
)

auditSchema.index({ at: -1, _id: -1 })
auditSchema.index({ subjectId: 1, at: 1 })
auditSchema.index({ actorId: 1 })

/**
 * The audit log: changes by admins and their reads of posts. Entries never change, except that the network address is deleted
 * with the actor's account.
 */
export function createAuditLog(connection: Connection) {
  connection.model<AuditEntry>('AuditEntry', auditSchema, 'auditLog')

  const collection = nativeCollection<AuditEntry>(connection, 'auditLog')

  return {
    async insert(entry: AuditEntry, session?: ClientSession): Promise<void> {
      await collection().insertOne(entry, { ...(session && { session }) })
    },

    /** One page, newest first. */
    async page({ page, limit }: { page: number; limit: number }): Promise<{ entries: AuditEntry[]; total: number }> {
      const [entries, total] = await Promise.all([
        collection()
          .find({}, { maxTimeMS: LIST_DEADLINE_MS })
          .sort({ at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection().estimatedDocumentCount({ maxTimeMS: LIST_DEADLINE_MS }),
      ])
      return { entries, total }
    },

    /** All entries about this user, oldest first, as a stream. */
    streamBySubject: (subjectId: string): AsyncIterable<AuditEntry> =>
      collection().find({ subjectId }, { maxTimeMS: LIST_DEADLINE_MS }).sort({ at: 1 }),

    /** Deletes the actor's network addresses; the actions stay under the actor's id. */
    async forgetAddressesOf(actorId: string): Promise<void> {
      await collection().updateMany({ actorId, ipAddress: { $ne: null } }, { $set: { ipAddress: null } })
    },
  }
}
