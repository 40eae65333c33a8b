import type { paths } from './generated/schema.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The paths of the document that have this method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: [NonNullable<paths[P][Lowercase<M>]>] extends [never] ? never : P
}[keyof paths]

export type Operation<M extends Method, P extends PathWith<M>> = NonNullable<paths[P][Lowercase<M>]>

/** `{ name: value }`, optional when the value has no required field, and forbidden when the operation has none. */
type Argument<Name extends string, Value> = [NonNullable<Value>] extends [never]
  ? { [N in Name]?: never }
  : object extends NonNullable<Value>
    ? { [N in Name]?: NonNullable<Value> }
    : { [N in Name]: NonNullable<Value> }

type Parameters<O, In extends string> = O extends { parameters: { [I in In]?: infer Value } } ? Value : never

type Body<O> = O extends { requestBody: { content: { 'application/json': infer Value } } }
  ? { body: Value }
  : O extends { requestBody?: { content: { 'application/json': infer Value } } }
    ? { body?: Value }
    : { body?: never }

export interface CallOptions {
  /** Ends the request and its retries. */
  signal?: AbortSignal | undefined
  /** For operations that accept one; the default is a random key for each call. */
  idempotencyKey?: string | undefined
  /** For edits: the `etag` that was read. The call fails with `PRECONDITION_FAILED` when the record has changed since. */
  ifMatch?: string | undefined
}

/** The arguments of a call: parameters and body of its operation, and the options of every call. */
export type CallArguments<O> = Argument<'path', Parameters<O, 'path'>> &
  Argument<'query', Parameters<O, 'query'>> &
  Body<O> &
  CallOptions

type Responses<O> = O extends { responses: infer R } ? R : never
type Json<R> = R extends { content: { 'application/json': infer Value } } ? Value : never
type Success<R> = { [Status in keyof R]: Status extends 200 | 201 | 202 ? Json<R[Status]> : never }[keyof R]

/** The `data` of a successful response, or the whole body when it has none. */
export type Data<O> = Success<Responses<O>> extends infer B ? (B extends { data: infer D } ? D : B) : never
