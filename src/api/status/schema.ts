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
    onTime: count('Published within `missAfterMs` of the scheduled time'),
    late: count('Published later than that'),
    failed: count("Failed for a reason outside the user's control, including `TOO_LATE`"),
    overdue: count('Not published, and the scheduled time is more than `missAfterMs` ago'),
    open: count('Not published yet, within `missAfterMs`'),
    refused: count('Failed for a reason that only the user can fix; not a miss'),
    retried: count('Retried by the user; excluded from lateness and misses'),
    misses: count('Sum of `late`, `failed` and `overdue`'),
    failures: optionalBy(FAILURE_CODES, Type.Integer()),
    lateness: Type.Object(
      { count: count(), p50: milliseconds, p95: milliseconds, p99: milliseconds, max: milliseconds },
      { description: "Milliseconds from the scheduled time until the platform's response was recorded" },
    ),
  },
  { title: 'DeliveryCounts', description: 'Counts deliveries to platforms, without cancelled posts' },
)

export const SloSchema = Type.Object(
  {
    since: Instant,
    until: Instant,
    isComplete: Type.Boolean({
      description: 'False when there were too many posts; `since` is then less than 24 hours ago',
    }),
    missAfterMs: Type.Integer(),
    posts: Type.Object({
      scheduled: count('All posts in the window'),
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

export const PunctualitySchema = Type.Object(
  {
    hours: Type.Array(
      Type.Object({
        hour: { ...Instant, description: 'Start of the UTC hour in which the deliveries were scheduled' },
        onTime: count('Published within `missAfterMs` of the scheduled time'),
        misses: count('Late, failed and overdue deliveries'),
        share: nullable(Type.Number({ description: 'Share of `onTime` in both, from 0 to 1; null without any' })),
      }),
      { description: 'Oldest first; the last hour has not ended' },
    ),
    isComplete: Type.Boolean({ description: 'False when there were too many posts; the first hours are then too low' }),
    missAfterMs: Type.Integer(),
  },
  { title: 'Punctuality' },
)
