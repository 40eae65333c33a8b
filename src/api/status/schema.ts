import { Type } from '@sinclair/typebox'
import { FAILURE_CODES } from '../../domain/posts/failure.ts'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import { Instant, nullable } from '../shared/schemas/common.ts'

const count = (description?: string) => Type.Integer(description === undefined ? {} : { description })
const milliseconds = nullable(Type.Integer())
const optionalBy = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.Object>>(
  names: readonly string[],
  schema: T,
) => Type.Partial(Type.Object(Object.fromEntries(names.map((name) => [name, schema]))))

const DeliveriesSchema = Type.Object(
  {
    total: count(),
    onTime: count('Out within `missAfterMs` of the instant'),
    late: count('Out, but later'),
    failed: count("Failed for a reason that is not the user's own, `TOO_LATE` among them"),
    overdue: count('Not out, and the instant is longer ago than `missAfterMs`'),
    open: count('Not out yet, within `missAfterMs`'),
    refused: count('Failed for a reason that only the user can mend; no miss'),
    retried: count('Sent again by the user: judged neither by lateness nor as a miss'),
    misses: count('`late`, `failed` and `overdue` together'),
    failures: optionalBy(FAILURE_CODES, Type.Integer()),
    lateness: Type.Object(
      { count: count(), p50: milliseconds, p95: milliseconds, p99: milliseconds, max: milliseconds },
      { description: 'Milliseconds from the instant until the answer of the platform was recorded' },
    ),
  },
  { title: 'DeliveryCounts', description: 'Platforms of posts that were not cancelled' },
)

export const SloSchema = Type.Object(
  {
    since: Instant,
    until: Instant,
    isComplete: Type.Boolean({
      description: 'False when there were too many posts: then `since` is later than 24 h ago',
    }),
    missAfterMs: Type.Integer(),
    posts: Type.Object({
      scheduled: count('All posts of the window'),
      delivered: count(),
      partiallyDelivered: count(),
      failed: count(),
      overdue: count(),
      open: count(),
      cancelled: count(),
    }),
    deliveries: DeliveriesSchema,
    platforms: optionalBy(PLATFORMS, DeliveriesSchema),
  },
  { title: 'ServiceLevels' },
)
