import mongoose, { type SchemaOptions } from 'mongoose'

/**
 * Options of every schema. `strict` and (on the connection) `strictQuery` throw, because a filter on an unknown path would
 * otherwise match everything. `npm run setup` creates the indexes, never a serving process.
 */
export const schemaOptions = {
  strict: 'throw',
  versionKey: false,
  autoIndex: false,
  autoCreate: false,
  minimize: false,
  id: false,
} as const satisfies SchemaOptions

/** Options of a schema inside another one. */
export const subdocumentOptions = { ...schemaOptions, _id: false } as const

/** A field that every record has. */
export const required = <T>(type: T) => ({ type, required: true }) as const

/** A field that is `null` unless it is set. */
export const nullable = <T>(type: T) => ({ type, default: null })

/** Creates a record id: 24 hexadecimal digits that sort roughly by time. */
export function newId(): string {
  return new mongoose.Types.ObjectId().toHexString()
}
