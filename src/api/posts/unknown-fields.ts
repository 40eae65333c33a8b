import type { TSchema } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { findNearestName } from '../../domain/shared/nearest-name.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { isStrict } from '../shared/strictness.ts'
import { ListedPost } from './schemas/list.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Fields of the body that the route does not know: validation drops them. */
    unknownFields: Problem[]
  }
}

/** The part of a JSON schema that says which fields a value may have. */
interface Schema {
  properties?: Record<string, Schema>
  /** The schemas of the values of a record, by a pattern of their names. */
  patternProperties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** More would not help whoever reads them. */
const MOST_REPORTED = 20

/** Why the kinds of posts that Instagram has are refused for Facebook. */
const NO_FACEBOOK_OPTIONS =
  'Facebook has no options: a page shows a single video as a reel, and stories are not supported. Remove them.'

/** Below these, every unknown field is refused. */
const CLOSED = /(^|\.)(options|link)\./

export function isUnknownOption({ path }: Problem): boolean {
  return CLOSED.test(path)
}

/**
 * Finds the fields of the request's body that the schema does not know, before validation drops them: with a misspelt `scheduledAt` a
 * post would be published immediately. What responses contain is known, so that clients can send back what they read.
 * @throws ServiceError VALIDATION_FAILED for an option that the platform does not have, and an unknown field of a link
 */
export function readUnknownFields(request: FastifyRequest, schema: TSchema): void {
  request.unknownFields = findUnknownFields([schema, ListedPost], request.body)
  const refused = request.unknownFields.filter(isUnknownOption)
  if (refused.length > 0) throw validationFailed(refused)
}

/** Like `readUnknownFields`. @throws ServiceError VALIDATION_FAILED for strict clients, whose posts are published unseen */
export function refuseUnknownFields(request: FastifyRequest, schema: TSchema): void {
  readUnknownFields(request, schema)
  if (request.unknownFields.length > 0 && isStrict(request)) throw validationFailed(request.unknownFields)
}

/** Returns a problem for each field that none of the schemas has; at most 20. */
export function findUnknownFields(schemas: readonly TSchema[], value: unknown): Problem[] {
  const found: Problem[] = []
  visit(schemas as readonly Schema[], value, [])
  return found

  function visit(forms: readonly Schema[], part: unknown, path: string[]): void {
    if (typeof part !== 'object' || part === null || found.length === MOST_REPORTED) return
    const all = forms.flatMap(flatten)
    if (Array.isArray(part)) {
      const items = all.flatMap((form) => form.items ?? [])
      part.forEach((item: unknown, index) => {
        if (typeof item === 'object') visit(items, item, [...path, String(index)])
      })
      return
    }
    // The schema leaves this value open, or rejects its type.
    if (!all.some((form) => form.properties ?? form.patternProperties)) return
    for (const [name, field] of Object.entries(part)) {
      const fields = all.flatMap((form) => findField(form, name))
      if (fields.length > 0) visit(fields, field, [...path, name])
      else if (found.length < MOST_REPORTED) found.push(toProblem([...path, name], all))
    }
  }
}

function flatten(schema: Schema): Schema[] {
  return schema.anyOf ? schema.anyOf.flatMap(flatten) : [schema]
}

function findField({ properties = {}, patternProperties = {} }: Schema, name: string): Schema[] {
  const named = Object.hasOwn(properties, name) ? [properties[name]!] : []
  const matching = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern).test(name))
  return [...named, ...matching.map(([, field]) => field)]
}

function toProblem(steps: string[], forms: readonly Schema[]): Problem {
  const path = steps.join('.')
  if (path.endsWith('options.facebook')) return { path, code: 'UNKNOWN_FIELD', message: NO_FACEBOOK_OPTIONS }
  const known = forms.flatMap(({ properties = {} }) => Object.keys(properties))
  const nearest = findNearestName(steps.at(-1)!, known)
  const remedy = nearest === null ? 'Remove it.' : `Did you mean ${nearest}?`
  return { path, code: 'UNKNOWN_FIELD', message: `${path} is not a known field. ${remedy}` }
}
