import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { MAX_NAME_INPUT } from '../../../domain/users/names.ts'
import { PLATFORMS, type Platform } from '../../../domain/shared/platforms.ts'

/** One of a fixed list of words, typed as their union. A `title` makes any schema a named one of the OpenAPI document. */
export const stringEnum = <T extends string>(
  values: readonly T[],
  options: { title?: string; description?: string; default?: T } = {},
) => Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })

export const PlatformName = stringEnum<Platform>(PLATFORMS, {
  title: 'Platform',
  description: 'Platform identifier',
})

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An object with any of the platforms for keys. */
export const byPlatform = <T extends TSchema>(value: T, options: { title?: string; description?: string } = {}) =>
  Type.Partial(Type.Object(Object.fromEntries(PLATFORMS.map((name) => [name, value])) as Record<Platform, T>), options)

/** Blanks around a name do not count, so its length is judged later. */
export const PersonName = Type.String({ maxLength: MAX_NAME_INPUT, description: '2 to 100 characters' })

/** An instant on the wire: ISO 8601 in UTC. */
export const Instant = Type.String({ format: 'date-time' })

/**
 * Path parameters with one record id. Any text is allowed: what cannot be an id is answered like a record that is missing.
 */
export const IdParam = <Name extends string>(name: Name) =>
  Type.Object({ [name]: Type.String({ description: 'Record id' }) } as Record<Name, ReturnType<typeof Type.String>>)

/** What a client tells of a file before it uploads it. Another type is refused with a message of its own. */
export const uploadBody = (types: readonly string[], example: string) =>
  Type.Object({
    contentType: Type.String({ maxLength: 100, description: `One of ${types.join(', ')}`, examples: [example] }),
    sizeBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The upload must then be exactly this long. Without it a file that is larger than its type allows is deleted',
      }),
    ),
  })

const MAX_PAGE_SIZE = 200
const MAX_PAGE = 1_000_000_000

/** Query fields of every list; numbers in queries are parsed strictly. Read them through `pageOf`. */
export const pageFields = {
  page: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }),
  limit: Type.Integer({
    minimum: 1,
    default: 20,
    description: `Above ${MAX_PAGE_SIZE} counts as ${MAX_PAGE_SIZE}`,
  }),
}

const Page = Type.Object(pageFields)

export function toPage(query: Static<typeof Page>): {
  page: number
  limit: number
} {
  return { page: query.page, limit: Math.min(query.limit, MAX_PAGE_SIZE) }
}

/** What a list answers beside its items. */
export const pageResultFields = {
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalPages: Type.Integer(),
}

export function toPageResult(total: number, { page, limit }: { page: number; limit: number }) {
  return { total, page, limit, totalPages: Math.ceil(total / limit) }
}
