import { Type } from '@sinclair/typebox'
import type { CallOptions } from '../../contract.ts'
import { responseReader } from '../responses.ts'
import { parseCount } from '../counts.ts'
import type { GraphApi } from './api.ts'

const Counted = Type.Object({ value: Type.Optional(Type.Unknown()) })

/** https://developers.facebook.com/docs/graph-api/reference/insights; totals of accounts are told apart from values of a time. */
const readInsightList = responseReader(
  Type.Object({
    data: Type.Array(
      Type.Object({
        name: Type.String(),
        period: Type.Optional(Type.String()),
        values: Type.Optional(Type.Array(Counted)),
        total_value: Type.Optional(Counted),
      }),
    ),
  }),
)

/** With whose login, and for how long. */
export interface ReadCall extends CallOptions {
  token: string
  timeoutMs: number
}

/** Null where the metric was not told: hosts leave out what they do not know yet. */
export type Insights = (metric: string) => number | null

/** @param metrics with commas between them */
export async function readInsights(api: GraphApi, path: string, metrics: string, call: ReadCall): Promise<Insights> {
  const { data } = await api.get(path, { metric: metrics }, readInsightList, call)
  const found = new Map<string, number | null>()
  for (const { name, period, values: [first] = [], total_value: total } of data) {
    // What is told of several spans as well is told of all time.
    if (!found.has(name) || period === 'lifetime') found.set(name, parseValue((total ?? first)?.value))
  }
  return (metric) => found.get(metric) ?? null
}

/** A count, or the sum of those by kinds; kinds of which there is none are left out. */
function parseValue(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return parseCount(value)
  const counts = Object.values(value).map(parseCount)
  return counts.includes(null) ? null : parseCount(sumKnown(0, ...counts))
}

/** Of what is known; null where nothing is. */
export function sumKnown(...counts: (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null)
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0)
}
