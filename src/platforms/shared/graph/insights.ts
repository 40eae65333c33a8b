import { Type } from '@sinclair/typebox'
import { sumKnown } from '../../../domain/analytics/analytics.ts'
import type { CallOptions } from '../../contract.ts'
import { responseReader } from '../responses.ts'
import { parseCount } from '../counts.ts'
import type { GraphApi } from './api.ts'

const Counted = Type.Object({ value: Type.Optional(Type.Unknown()) })

/**
 * https://developers.facebook.com/docs/graph-api/reference/insights. Account totals are in `total_value`, other metrics
 * in `values`.
 */
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

/** The login and the deadline of a reading call. */
export interface ReadCall extends CallOptions {
  token: string
  timeoutMs: number
}

/** Returns the value of a metric; `null` when the host did not report it. Hosts leave out metrics they do not know yet. */
export type Insights = (metric: string) => number | null

/**
 * Reads the insights of a post or an account.
 * @param metrics separated by commas
 */
export async function readInsights(api: GraphApi, path: string, metrics: string, call: ReadCall): Promise<Insights> {
  const { data } = await api.get(path, { metric: metrics }, readInsightList, call)
  const found = new Map<string, number | null>()
  for (const { name, period, values: [first] = [], total_value: total } of data) {
    // A metric reported for several periods is also reported for its lifetime.
    if (!found.has(name) || period === 'lifetime') found.set(name, parseValue((total ?? first)?.value))
  }
  return (metric) => found.get(metric) ?? null
}

/** Returns a count, or the sum of the counts by kind. Kinds without a count are left out by the host. */
function parseValue(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return parseCount(value)
  const counts = Object.values(value).map(parseCount)
  return counts.includes(null) ? null : parseCount(sumKnown([0, ...counts]))
}
