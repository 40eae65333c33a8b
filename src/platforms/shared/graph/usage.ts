import { Type } from '@sinclair/typebox'
import { MINUTE } from '../../../domain/shared/times.ts'
import { responseReader } from '../responses.ts'
import type { HttpResponse } from '../http.ts'

/** https://developers.facebook.com/docs/graph-api/overview/rate-limiting: `X-Business-Use-Case-Usage`, in minutes. */
const readBusinessUsage = responseReader(
  Type.Record(
    Type.String(),
    Type.Array(Type.Object({ estimated_time_to_regain_access: Type.Optional(Type.Number({ minimum: 0 })) })),
  ),
)

/** Returns when the platform accepts calls again, in milliseconds from now; undefined without a limit. */
export function toRegainAccessMs(response: Pick<HttpResponse, 'header'>): number | undefined {
  const usage = readBusinessUsage(response.header('x-business-use-case-usage') ?? '')
  const waits = Object.values(usage ?? {}).flatMap((uses) =>
    uses.map(({ estimated_time_to_regain_access: minutes = 0 }) => minutes),
  )
  const longest = Math.max(0, ...waits)
  return longest > 0 ? longest * MINUTE : undefined
}
