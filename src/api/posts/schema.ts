import { Type, type Static } from '@sinclair/typebox'
import { FAILURE_CODES, type FailureCode } from '../../domain/posts/failure.ts'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import {
  DELIVERY_STATUSES,
  MEDIA_TYPES,
  POST_STATUSES,
  type DeliveryStatus,
  type PostStatus,
} from '../../domain/posts/post.ts'
import { MAX_MEDIA_ITEMS, MAX_TEXT_LENGTH } from '../../domain/posts/posting-rules.ts'
import { TIMELINE_RESULTS, TIMELINE_TYPES } from '../../domain/posts/timeline.ts'
import { ProblemSchema } from '../shared/schemas/envelope.ts'
import type { PostQuery } from '../../store/posts/posts.ts'
import { SnapshotSchema } from '../shared/schemas/snapshot.ts'
import {
  byPlatform,
  Instant,
  nullable,
  stringEnum,
  pageFields,
  pageResultFields,
  PlatformName,
  uploadBody,
} from '../shared/schemas/common.ts'

const POST_ID = '6824b1f7c0a9d3e5f1a2b3c4'
const MEDIA_KEY = 'posts/6824b1f7c0a9d3e5f1a2b3c4/3f0c8a52-6d1b-4f0e-9c7a-2b1d5e8f9a01.jpg'

const Status = stringEnum<PostStatus>(POST_STATUSES, { title: 'PostStatus', description: 'Status of the whole post' })

/** `image/jpg` and unknown types are let through: what a platform cannot publish is said per platform. */
const MediaItemFields = {
  storageKey: Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: 'As the media upload gave it out; it must stand under your own prefix',
    examples: [MEDIA_KEY],
  }),
  mimeType: Type.String({
    minLength: 1,
    maxLength: 100,
    description: `One of ${MEDIA_TYPES.join(', ')}`,
    examples: ['image/jpeg'],
  }),
  originalFilename: Type.Optional(Type.String({ maxLength: 255, examples: ['sunrise.jpg'] })),
  sizeBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  width: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Pixels' })),
  height: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Pixels' })),
  duration: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Seconds, for videos' })),
  altText: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'Description for those who cannot see it',
      examples: ['The sun rises over a harbour'],
    }),
  ),
}

const MediaItemInput = Type.Object(MediaItemFields, { title: 'MediaItemInput' })

const mediaItemsInput = Type.Array(MediaItemInput, {
  maxItems: MAX_MEDIA_ITEMS,
  description: `At most ${MAX_MEDIA_ITEMS}; each platform has its own, lower limit`,
})

const textInput = Type.String({ maxLength: MAX_TEXT_LENGTH, examples: ['Good morning, everyone'] })

const OverrideInput = Type.Object(
  { text: Type.Optional(textInput), mediaItems: Type.Optional(mediaItemsInput) },
  { title: 'OverrideInput' },
)

/** Unknown platforms are refused here, not dropped: a mistyped one would silently publish the wrong text. */
const OverridesInput = Type.Partial(
  Type.Object({
    bluesky: OverrideInput,
    threads: OverrideInput,
    instagram: OverrideInput,
    facebook: OverrideInput,
    mastodon: OverrideInput,
    tumblr: OverrideInput,
  }),
  {
    propertyNames: { enum: [...PLATFORMS] },
    maxProperties: PLATFORMS.length,
    description: 'What one platform gets in place of the same part of `content`',
    examples: [{ bluesky: { text: 'Good morning, Bluesky' } }],
  },
)

const selectedPlatforms = Type.Array(PlatformName, {
  minItems: 1,
  maxItems: PLATFORMS.length,
  uniqueItems: true,
  examples: [['bluesky']],
})

const scheduledAt = Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
  description:
    'ISO 8601. With an offset or zone it is that instant, without one it is wall time in `timezone`. Null or past: now.',
  examples: ['2027-05-01T09:30:00+02:00', '2027-05-01T09:30'],
})

const timezoneOptions = { maxLength: 100, description: 'IANA timezone', examples: ['Europe/Berlin'] }

const status = stringEnum(['DRAFT', 'PENDING', 'SCHEDULED'] as const, {
  description: 'DRAFT keeps the post from being published; between the other two the time decides',
})

const correlationId = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Idempotency key, instead of the header: a repeat with the same key and body gets the first answer',
})

const wholePost = {
  content: Type.Object({ text: textInput, mediaItems: Type.Optional(mediaItemsInput) }),
  selectedPlatforms,
  platformSpecificContent: Type.Optional(OverridesInput),
  scheduledAt: Type.Optional(scheduledAt),
  timezone: Type.Optional(
    Type.String({ ...timezoneOptions, default: 'UTC', description: 'IANA timezone, UTC when absent' }),
  ),
  status: Type.Optional(status),
}

const EXAMPLE = {
  content: { text: 'Good morning, everyone' },
  selectedPlatforms: ['bluesky'],
  scheduledAt: '2027-05-01T09:30',
  timezone: 'Europe/Berlin',
}

export const CreatePostBody = Type.Object(
  { ...wholePost, correlationId: Type.Optional(correlationId) },
  { title: 'CreatePost', examples: [EXAMPLE] },
)

export const ReplacePostBody = Type.Object(wholePost, { title: 'ReplacePost', examples: [EXAMPLE] })

export const PatchPostBody = Type.Partial(
  Type.Object({
    content: Type.Object({ text: Type.Optional(textInput), mediaItems: Type.Optional(mediaItemsInput) }),
    selectedPlatforms,
    platformSpecificContent: OverridesInput,
    scheduledAt,
    timezone: Type.String(timezoneOptions),
    status,
  }),
  { title: 'UpdatePost', examples: [{ content: { text: 'Good evening, everyone' } }] },
)

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A repeat with the same key and body gets the first answer',
    }),
  ),
})

/** For the document alone. */
export const ConditionalHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of the last response: 304 when it still holds' }),
  ),
})

export const MediaUploadBody = uploadBody(MEDIA_TYPES, 'image/jpeg')

const rangeBound = (description: string) =>
  Type.String({
    maxLength: 100,
    description: `${description}, by \`scheduledAt\`, else \`createdAt\``,
    examples: ['2026-05-01', '2026-05-01T09:30:00Z'],
  })

export const ListPostsQuery = Type.Object({
  ...pageFields,
  status: Type.Optional(
    Type.Array(Status, { minItems: 1, maxItems: POST_STATUSES.length, description: 'Posts in any of these statuses' }),
  ),
  platform: Type.Optional(PlatformName),
  from: Type.Optional(rangeBound('Not before this date-time, or this date in your timezone')),
  to: Type.Optional(rangeBound('Not after this date-time, or the end of this date in your timezone')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Words that the text contains, in any case',
      examples: ['launch'],
    }),
  ),
  include: Type.Optional(
    stringEnum(['metrics'] as const, {
      description: '`metrics` adds the latest metrics of each post; a `limit` above 50 then counts as 50',
    }),
  ),
  sortBy: stringEnum<PostQuery['sortBy']>(['createdAt', 'scheduledAt', 'date'], {
    default: 'createdAt',
    description: '`date` is what `from` and `to` filter on: `scheduledAt`, or `createdAt` of a post without it',
  }),
  sortOrder: stringEnum<'asc' | 'desc'>(['asc', 'desc'], { default: 'desc' }),
})

const MediaItem = Type.Object(
  {
    ...MediaItemFields,
    storageUrl: Type.String({ description: 'Where anyone can read the file' }),
  },
  { title: 'MediaItem' },
)

const Content = Type.Object({ text: Type.String(), mediaItems: Type.Array(MediaItem) }, { title: 'PostContent' })

const PlatformStatusSchema = Type.Object(
  {
    platform: PlatformName,
    status: stringEnum<DeliveryStatus>(DELIVERY_STATUSES, { title: 'DeliveryStatus' }),
    platformPostId: nullable(Type.String()),
    platformPostUrl: nullable(Type.String()),
    error: nullable(
      Type.String({
        description:
          'Why the delivery failed, or why it waits for its next attempt: a sentence for people, followed by what the platform says. At most 500 characters; null as soon as the next attempt begins.',
      }),
    ),
    errorCode: nullable(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
    nextAttemptAt: nullable(
      Type.Unsafe<string>({
        ...Instant,
        description: 'When a waiting delivery is attempted or checked again; null when it does not wait',
      }),
    ),
    attemptCount: Type.Integer(),
    lastAttemptAt: nullable(Instant),
    completedAt: nullable(Instant),
    lastAnalyticsFetch: nullable(Instant),
  },
  { title: 'PlatformStatus' },
)

const Overrides = byPlatform(Type.Partial(Content, { title: 'PostContentOverride' }), {
  description: 'Overrides by platform',
})

export const PostSchema = Type.Object(
  {
    _id: Type.String({ examples: [POST_ID] }),
    userId: Type.String(),
    content: Content,
    selectedPlatforms: Type.Array(PlatformName),
    platformSpecificContent: Overrides,
    scheduledAt: nullable(Instant),
    timezone: Type.String(),
    status: Status,
    platformStatuses: Type.Array(PlatformStatusSchema),
    correlationId: nullable(Type.String()),
    metadata: Type.Object({ source: stringEnum(['web', 'api'] as const) }),
    isShortened: Type.Optional(
      Type.Boolean({
        description:
          'Only in lists: the post is too large for its page. It comes with the beginning of its text, without ' +
          '`platformSpecificContent` and alt texts; read it by its id.',
      }),
    ),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Post' },
)

export const CreatedPost = Type.Object(
  {
    postId: Type.String({ examples: [POST_ID] }),
    status: Status,
    scheduledAt: nullable(Instant),
    warnings: Type.Array(ProblemSchema, { description: 'What does not stop the post, but may stop its delivery' }),
  },
  { title: 'CreatedPost' },
)

export const UpdatedPost = Type.Object({ ...CreatedPost.properties }, { title: 'UpdatedPost' })

const LatestMetrics = byPlatform(SnapshotSchema, { description: 'The latest snapshot by platform' })

const ListedPost = Type.Object(
  { ...PostSchema.properties, analytics: Type.Optional(LatestMetrics) },
  { title: 'ListedPost', description: '`analytics` is there with `include=metrics`' },
)

export const PostList = Type.Object({ posts: Type.Array(ListedPost), ...pageResultFields }, { title: 'PostList' })

export const PostDetail = Type.Object(
  {
    post: PostSchema,
    analytics: LatestMetrics,
  },
  { title: 'PostDetail' },
)

export const PostProgress = Type.Object(
  {
    postId: Type.String(),
    status: Status,
    platformStatuses: Type.Array(PlatformStatusSchema),
    scheduledAt: nullable(Instant),
    createdAt: Instant,
    updatedAt: Instant,
    progress: Type.Object({
      total: Type.Integer(),
      pending: Type.Integer(),
      processing: Type.Integer(),
      completed: Type.Integer(),
      failed: Type.Integer(),
      deleted: Type.Integer(),
    }),
  },
  { title: 'PostProgress' },
)

export const PostTimeline = Type.Object(
  {
    postId: Type.String(),
    events: Type.Array(
      Type.Object(
        {
          at: Instant,
          type: stringEnum(TIMELINE_TYPES),
          status: Type.Optional(Status),
          platform: Type.Optional(PlatformName),
          result: Type.Optional(stringEnum(TIMELINE_RESULTS)),
          errorCode: Type.Optional(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
          platformCode: Type.Optional(Type.String({ description: 'The error code that the platform gave' })),
          platformText: Type.Optional(
            Type.String({ description: 'What the platform said, without markup and secrets; at most 300 characters' }),
          ),
          round: Type.Optional(
            Type.Integer({ description: 'Which retry of the user it belongs to; 0 is the first delivery' }),
          ),
          attempt: Type.Optional(Type.Integer({ description: 'Which call to the platform it belongs to' })),
          until: Type.Optional(Type.Unsafe<string>({ ...Instant, description: 'When it goes on' })),
          workflowRunId: Type.Optional(Type.String({ description: 'The run in Temporal, where a worker did it' })),
        },
        { title: 'TimelineEvent' },
      ),
      { description: 'Oldest first' },
    ),
  },
  { title: 'PostTimeline' },
)

export const DeletedPost = Type.Object({ postId: Type.String() })

export const CancelledPost = Type.Object({ postId: Type.String(), status: Status })

export const RetriedPost = Type.Object({ postId: Type.String(), retryingPlatforms: Type.Array(PlatformName) })

export const MediaUpload = Type.Object(
  {
    uploadUrl: Type.String({
      description: 'PUT the file here within 15 minutes, with exactly this Content-Type and no Authorization',
    }),
    storageUrl: Type.String({ description: 'Where anyone can read the file then' }),
    storageKey: Type.String({ examples: [MEDIA_KEY] }),
    contentType: Type.String({ examples: ['image/jpeg'] }),
  },
  { title: 'MediaUpload' },
)

export const ValidationReport = Type.Object(
  {
    valid: Type.Boolean(),
    errors: Type.Array(ProblemSchema),
    warnings: Type.Array(ProblemSchema),
    platforms: Type.Record(
      Type.String(),
      Type.Object({
        length: Type.Integer({
          description: 'Length of the text as the platform counts it. Counting stops at ten times `limit`',
        }),
        limit: Type.Integer(),
        media: Type.Integer({ description: 'Number of media items' }),
      }),
    ),
  },
  { title: 'ValidationReport' },
)

export type PostView = Static<typeof PostSchema>
export type ListedPostView = Static<typeof ListedPost>
export type ListQuery = Static<typeof ListPostsQuery>
export type PlatformStatusView = Static<typeof PlatformStatusSchema>
export type PostProgressView = Static<typeof PostProgress>
export type PostTimelineView = Static<typeof PostTimeline>
