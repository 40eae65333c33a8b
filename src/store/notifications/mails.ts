import { Schema, type ClientSession, type Connection } from 'mongoose'
import { MAIL_FAILURES, MAIL_KINDS, type MailFailure, type MailKind } from '../../domain/notifications/mails.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

/** A mail to one recipient. Expires some days later. */
export interface Mail {
  _id: string
  /** The account that the mail concerns; null without an account. */
  userId: string | null
  kind: MailKind
  /** Recipient and text, encrypted; null once the mail is sent or failed. */
  sealed: string | null
  state: 'waiting' | 'sent' | 'failed'
  failure: MailFailure | null
  /** Not sent after this instant. */
  expiresAt: Date
  /** The workflow's lease ends then; the sweeper starts the mail again afterwards. */
  leasedUntil: Date
  createdAt: Date
  endedAt: Date | null
  removeAt: Date
}

const mailSchema = new Schema<Mail>(
  {
    _id: required(String),
    userId: nullable(String),
    kind: { type: String, enum: MAIL_KINDS, required: true },
    sealed: nullable(String),
    state: { type: String, enum: ['waiting', 'sent', 'failed'], required: true },
    failure: { type: String, enum: [...MAIL_FAILURES, null], default: null },
    expiresAt: required(Date),
    leasedUntil: required(Date),
    createdAt: required(Date),
    endedAt: nullable(Date),
    removeAt: required(Date),
  },
  schemaOptions,
)

mailSchema.index({ leasedUntil: 1 }, { partialFilterExpression: { state: 'waiting' } })
mailSchema.index({ userId: 1 })
mailSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

export function createMailStore(connection: Connection) {
  connection.model<Mail>('Mail', mailSchema, 'mails')

  const collection = nativeCollection<Mail>(connection, 'mails')

  return {
    async insert(mail: Mail): Promise<void> {
      await collection().insertOne(mail)
    },

    /** Inserts the mails that are not stored yet. */
    async insertMissing(mails: Mail[], session?: ClientSession): Promise<void> {
      if (mails.length === 0) return
      await collection().bulkWrite(
        mails.map(({ _id, ...mail }) => ({
          updateOne: { filter: { _id }, update: { $setOnInsert: mail }, upsert: true },
        })),
        { ordered: false, ...(session && { session }) },
      )
    },

    /** Returns which of these mails are stored. */
    async findStored(mailIds: string[]): Promise<Set<string>> {
      if (mailIds.length === 0) return new Set()
      const stored = await collection()
        .find({ _id: { $in: mailIds } }, { projection: { _id: 1 } })
        .toArray()
      return new Set(stored.map(({ _id }) => _id))
    },

    /** Returns the mail if it still waits, leased until then. */
    lease: (mailId: string, leasedUntil: Date): Promise<Mail | null> =>
      collection().findOneAndUpdate(
        { _id: mailId, state: 'waiting' },
        { $set: { leasedUntil } },
        { returnDocument: 'after' },
      ),

    /** Records the outcome and deletes the content. */
    async end(mailId: string, failure: MailFailure | null, endedAt: Date): Promise<void> {
      const state = failure === null ? 'sent' : 'failed'
      await collection().updateOne(
        { _id: mailId, state: 'waiting' },
        { $set: { state, failure, endedAt, sealed: null } },
      )
    },

    /** Waiting mails whose lease ended before `since`, oldest first. */
    listUnleased: (since: Date, limit: number): Promise<Mail[]> =>
      collection()
        .find({ state: 'waiting', leasedUntil: { $lt: since } })
        .sort({ leasedUntil: 1 })
        .limit(limit)
        .toArray(),

    allOf: (userId: string): AsyncIterable<Mail> => collection().find({ userId }).sort({ createdAt: -1 }),

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type MailStore = ReturnType<typeof createMailStore>
