import type { SandboxResponse } from '../../proxied-platform.ts'
import type { GraphParams } from './graph.ts'

const USUAL = 25
const MOST = 100

/** Returns one page of a list, newest first; cursors name the last entry sent. */
export function pageThrough<T extends { id: string; createdAt: number }>(
  all: T[],
  params: GraphParams,
  present: (one: T) => object,
  most = MOST,
): SandboxResponse {
  const limit = Math.min(Number(params.get('limit') ?? USUAL) || USUAL, most)
  const [since, until] = [Number(params.get('since') ?? 0), Number(params.get('until') ?? Infinity)]
  const within = all.filter(({ createdAt }) => createdAt / 1_000 >= since && createdAt / 1_000 <= until)
  const after = params.get('after')
  const start = after === undefined ? 0 : within.findIndex(({ id }) => cursor(id) === after) + 1
  const shown = within.slice(start, start + limit)
  const [first, last] = [shown[0], shown.at(-1)]
  const hasMore = start + limit < within.length
  const paging = first &&
    last && {
      cursors: { before: cursor(first.id), after: cursor(last.id) },
      ...(hasMore && { next: `https://graph.facebook.com/next?after=${cursor(last.id)}` }),
    }
  return { status: 200, body: { data: shown.map(present), ...(paging && { paging }) } }
}

/** Formats a time in whole seconds, as the Graph API does. */
export function graphTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, '+0000')
}

function cursor(id: string): string {
  return Buffer.from(id).toString('base64url')
}
