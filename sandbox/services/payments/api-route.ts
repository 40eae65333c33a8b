import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import { noSuch } from './errors.ts'
import type { CustomerRecord } from './records.ts'
import type { ApiShape } from './shapes.ts'
import type { State } from './state.ts'

export interface ApiCall<P> {
  /** The id in the path. */
  id: string
  params: P
  shape: ApiShape
}

export type ApiRoute = [method: string, path: RegExp, params: TSchema, run: (call: ApiCall<never>) => object]

export const closed = { additionalProperties: false }
export const optional = Type.Optional
export const text = Type.String({ minLength: 1 })
export const metadata = Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 500 }), {
  maxProperties: 50,
})

/** Every call may expand parts of its response. */
export function route<P extends TProperties>(
  method: string,
  path: RegExp,
  properties: P,
  run: (call: ApiCall<Static<TObject<P>>>) => object,
): ApiRoute {
  const params = Type.Object({ ...properties, expand: optional(Type.Array(text)) }, closed)
  return [method, path, params, run]
}

/** A deleted customer can be read but not used as a parameter. */
export function customerOf({ customers }: State, id: string, param?: string): CustomerRecord {
  const found = customers.get(id)
  if (!found || (found.isDeleted && param !== undefined)) throw noSuch('customer', id, param)
  return found
}
