import { Schema, type ClientSession, type Connection } from 'mongoose'
import { WEEKDAYS, type SlotPlan, type UserSlots } from '../../domain/posts/slots.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

const SLOTS = 'slots'

const timeSchema = new Schema(
  { day: { type: String, enum: WEEKDAYS, required: true }, time: required(String) },
  subdocumentOptions,
)
const planSchema = new Schema<SlotPlan>(
  {
    kind: { type: String, enum: ['account', 'group'], required: true },
    id: required(String),
    timezone: required(String),
    times: { type: [timeSchema], required: true },
  },
  subdocumentOptions,
)
const slotsSchema = new Schema<UserSlots>(
  { _id: required(String), plans: { type: [planSchema], required: true }, revision: required(Number) },
  schemaOptions,
)

/** Stores the weekly times of a user's accounts and groups, as one record. */
export function createSlotStore(connection: Connection) {
  connection.model<UserSlots>('UserSlots', slotsSchema, SLOTS)

  const collection = nativeCollection<UserSlots>(connection, SLOTS)

  return {
    /** Returns an empty record for a user without slots. */
    async find(userId: string): Promise<UserSlots> {
      return (await collection().findOne({ _id: userId })) ?? { _id: userId, plans: [], revision: 0 }
    },

    /** Replaces all slots of a user. Callers lock the user, and pass the revision that they replace. */
    async replace({ _id, plans, revision }: UserSlots, session: ClientSession): Promise<UserSlots> {
      const replaced = { plans, revision: revision + 1 }
      await collection().updateOne({ _id }, { $set: replaced }, { upsert: true, session })
      return { _id, ...replaced }
    },

    /** Removes the slots of accounts or groups that have ended. */
    async removeOf(userId: string, ids: readonly string[], session: ClientSession): Promise<void> {
      await collection().updateOne(
        { _id: userId, 'plans.id': { $in: [...ids] } },
        { $pull: { plans: { id: { $in: [...ids] } } }, $inc: { revision: 1 } },
        { session },
      )
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteOne({ _id: userId })
    },
  }
}

export type SlotStore = ReturnType<typeof createSlotStore>
