import { Type } from '@sinclair/typebox'

const REVISION = /^"(\d+)"$/

/** Returns the ETag of a record, which is its revision. */
export function toETag({ revision }: { revision: number }): string {
  return `"${revision}"`
}

/** Splits a list of ETags. Weak ones count as strong, because proxies that compress responses weaken them. */
export function parseETags(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
}

export const IfMatchHeader = {
  'if-match': Type.Optional(
    Type.String({
      description: 'The `etag` of the last reading; the request is refused with 412 if the record has changed since',
    }),
  ),
}

/** Returns the revisions that the header `If-Match` allows; undefined for any. */
export function parseIfMatch(header: string | undefined): number[] | undefined {
  const tags = header === undefined ? ['*'] : parseETags(header)
  return tags.includes('*') ? undefined : tags.flatMap((tag) => REVISION.exec(tag)?.slice(1).map(Number) ?? [])
}

/** The field of a response that contains the ETag of a record. */
export const ETagField = Type.String({ description: 'The version of the record, for `If-Match`', examples: ['"3"'] })
