import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { MAX_NAME_INPUT } from '../../../domain/shared/names.ts'
import { PLATFORMS, type Platform } from '../../../domain/shared/platforms.ts'

/** A string from a fixed list, typed as a union. A `title` names the schema in the OpenAPI document. */
export const stringEnum = <T extends string>(
  values: readonly T[],
  options: { title?: string; description?: string; default?: T } = {},
) => Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })

export const PlatformName = stringEnum<Platform>(PLATFORMS, {
  title: 'Platform',
  description: 'Platform identifier',
})

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An object whose keys are platforms, all optional. */
export const byPlatform = <T extends TSchema>(value: T, options: { title?: string; description?: string } = {}) =>
  Type.Partial(Type.Object(Object.fromEntries(PLATFORMS.map((name) => [name, value])) as Record<Platform, T>), options)

/** Leading and trailing spaces do not count, so the command checks the length. */
export const PersonName = Type.String({ maxLength: MAX_NAME_INPUT, description: '2 to 100 characters' })

/** An instant in JSON: ISO 8601 in UTC. */
export const Instant = Type.String({ format: 'date-time' })

/** Converts a time to the form of `Instant`; null stays null. */
export function toInstant(date: Date | null): string | null {
  return date?.toISOString() ?? null
}

/**
 * Path parameters with one record id. Any text is allowed: a malformed id gets the same 404 as an unknown one.
 */
export const IdParam = <Name extends string>(name: Name) =>
  Type.Object({ [name]: Type.String({ description: 'Record id' }) } as Record<Name, ReturnType<typeof Type.String>>)

/** The body of an upload request. The command rejects other types with its own error code. */
export const uploadBody = (types: readonly string[], example: string) =>
  Type.Object({
    contentType: Type.String({
      maxLength: 100,
      description: `Allowed values: ${types.join(', ')}`,
      examples: [example],
    }),
    sizeBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Exact size of the upload. Without it, a file above the size limit of its type is deleted after the upload.',
      }),
    ),
  })

const MAX_PAGE_SIZE = 200
const MAX_PAGE = 1_000_000_000

/** Query fields of every list; numbers in queries are parsed strictly. Convert them with `toPage`. */
export const pageFields = {
  page: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }),
  limit: Type.Integer({
    minimum: 1,
    default: 20,
    description: `Values above ${MAX_PAGE_SIZE} are reduced to ${MAX_PAGE_SIZE}`,
  }),
}

const Page = Type.Object(pageFields)

export function toPage(query: Static<typeof Page>): {
  page: number
  limit: number
} {
  return { page: query.page, limit: Math.min(query.limit, MAX_PAGE_SIZE) }
}

/** Response fields of a list beside its items. */
export const pageResultFields = {
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalPages: Type.Integer(),
}

export function toPageResult(total: number, { page, limit }: { page: number; limit: number }) {
  return { total, page, limit, totalPages: Math.ceil(total / limit) }
}

/** The accounts that a filter names. Ids have no other characters, so that a query with all of them fits the headers of a request. */
export const accountsFilter = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 40, pattern: '^[\\w-]*$' }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description,
    }),
  )

/** The groups that a filter names. */
export const GroupFilter = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
    minItems: 1,
    maxItems: 5,
    description:
      'Ids or names of groups: their accounts, besides those of `accounts`. A name with a comma needs the id',
  }),
)
