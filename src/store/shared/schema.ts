import mongoose, { type SchemaOptions } from 'mongoose'

/**
 * Options of every schema. `strict` and (on the connection) `strictQuery` throw, because a filter on an unknown path
 * would otherwise silently match everything. Indexes are made by `npm run setup`, never by a serving process.
 */
export const schemaOptions = {
  strict: 'throw',
  versionKey: false,
  autoIndex: false,
  autoCreate: false,
  minimize: false,
  id: false,
} as const satisfies SchemaOptions

/** A record id: 24 hexadecimal digits, stored as a string, growing roughly with time. */
export function newId(): string {
  return new mongoose.Types.ObjectId().toHexString()
}
