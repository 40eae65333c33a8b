import { Type, type Static } from '@sinclair/typebox'
import { POST_STATUSES } from '../../../domain/posts/post.ts'
import type { PostQuery } from '../../../store/posts/post-lists.ts'
import { pageFields, pageResultFields, PlatformName, stringEnum } from '../../shared/schemas/common.ts'
import { AccountSnapshots } from '../../shared/schemas/snapshot.ts'
import { Status } from './fields.ts'
import { LatestMetrics, PostSchema } from './post.ts'

export const rangeBound = (description: string) =>
  Type.String({
    maxLength: 100,
    description: `${description}. Compares \`scheduledAt\`, or \`createdAt\` when the post has no time.`,
    examples: ['2026-05-01', '2026-05-01T09:30:00Z'],
  })

export const accountFilter = Type.Optional(
  Type.String({ maxLength: 100, description: 'Id of an account, also of one that is no longer connected' }),
)

export const ListPostsQuery = Type.Object({
  ...pageFields,
  status: Type.Optional(
    Type.Array(Status, {
      minItems: 1,
      maxItems: POST_STATUSES.length,
      description: 'Returns posts in any of these statuses',
    }),
  ),
  platform: Type.Optional(PlatformName),
  account: accountFilter,
  from: Type.Optional(rangeBound('Earliest date-time, or the start of this date in your timezone')),
  to: Type.Optional(rangeBound('Latest date-time, or the end of this date in your timezone')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Case-insensitive text to search for in the posts',
      examples: ['launch'],
    }),
  ),
  include: Type.Optional(
    stringEnum(['metrics'] as const, {
      description: '`metrics` adds the latest metrics of each post and reduces a `limit` above 50 to 50.',
    }),
  ),
  sortBy: stringEnum<PostQuery['sortBy']>(['createdAt', 'scheduledAt', 'date'], {
    default: 'createdAt',
    description:
      '`date` is the field that `from` and `to` filter on: `scheduledAt`, or `createdAt` when the post has no time.',
  }),
  sortOrder: stringEnum<'asc' | 'desc'>(['asc', 'desc'], { default: 'desc' }),
})

export const ListedPost = Type.Object(
  { ...PostSchema.properties, analytics: Type.Optional(LatestMetrics), accountAnalytics: AccountSnapshots },
  { title: 'ListedPost', description: '`analytics` is present with `include=metrics`.' },
)

export const PostList = Type.Object({ posts: Type.Array(ListedPost), ...pageResultFields }, { title: 'PostList' })

export type ListedPostView = Static<typeof ListedPost>
export type ListQuery = Static<typeof ListPostsQuery>
