import { Type, type Static } from '@sinclair/typebox'
import { FAILURE_CODES, type FailureCode } from '../../../domain/posts/failure.ts'
import {
  DELIVERY_STATUSES,
  UNSUPPORTED_POLICIES,
  type DeliveryStatus,
  type UnsupportedPolicy,
} from '../../../domain/posts/post.ts'
import { MAX_TEXT_LENGTH } from '../../../domain/posts/posting-rules.ts'
import { ETagField } from '../../shared/etags.ts'
import { accountsFilter, byPlatform, Instant, nullable, PlatformName, stringEnum } from '../../shared/schemas/common.ts'
import { ErrorBodySchema, ProblemSchema } from '../../shared/schemas/envelope.ts'
import { AccountSnapshots, SnapshotSchema } from '../../shared/schemas/snapshot.ts'
import { linkSchema } from './link.ts'
import { Options } from './options.ts'
import { Client, DueAt, EXAMPLE_POST_ID, IfLateSchema, mediaItemFields, Source, Status } from './fields.ts'

const MediaItem = Type.Object(
  {
    ...mediaItemFields,
    storageUrl: Type.String({ description: 'Public URL of the file' }),
  },
  { title: 'MediaItem' },
)

const segmentFields = { text: Type.String(), mediaItems: Type.Array(MediaItem) }

const Content = Type.Object(
  {
    ...segmentFields,
    segments: Type.Optional(
      Type.Array(Type.Object(segmentFields, { title: 'PostSegment' }), { description: 'Further posts of the thread' }),
    ),
    firstComment: Type.Optional(Type.String()),
    onUnsupported: Type.Optional(stringEnum<UnsupportedPolicy>(UNSUPPORTED_POLICIES)),
    options: Type.Optional(Options),
    link: Type.Optional(linkSchema(MediaItem, 'LinkCard')),
  },
  { title: 'PostContent' },
)

const PostPart = Type.Object(
  {
    kind: stringEnum(['post', 'comment'] as const),
    status: stringEnum<DeliveryStatus>(DELIVERY_STATUSES, { title: 'DeliveryStatus' }),
    platformPostId: nullable(Type.String()),
    platformPostUrl: nullable(Type.String()),
    warning: Type.Optional(Type.String()),
    error: nullable(Type.String({ description: 'Why it was not published' })),
    errorCode: nullable(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
    completedAt: nullable(Instant),
  },
  { title: 'PostPart' },
)

/** How far a change of what is published is. */
const changeFields = {
  status: stringEnum(['pending', 'completed', 'failed'] as const),
  requestedAt: Instant,
  requestedBy: Type.String({ description: 'Id of the user, or of the API key after `key:`' }),
  completedAt: nullable(Instant),
  error: nullable(Type.String({ description: 'Why it failed, and what to do' })),
  errorCode: nullable(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
}

export const PlatformStatusSchema = Type.Object(
  {
    platform: PlatformName,
    accountId: nullable(Type.String({ description: 'Id of the account; null while the platform has none' })),
    accountName: nullable(Type.String({ description: 'Handle of the account when it was chosen or last used' })),
    server: nullable(Type.String({ description: "URL of the account's server, on platforms with many" })),
    status: stringEnum<DeliveryStatus>(DELIVERY_STATUSES, { title: 'DeliveryStatus' }),
    platformPostId: nullable(Type.String()),
    platformPostUrl: nullable(Type.String()),
    warning: Type.Optional(
      Type.String({ description: 'What the platform left out of the published post, such as an image' }),
    ),
    error: nullable(
      Type.String({
        description:
          'Why the delivery failed or waits for its next attempt: a plain sentence, then the text of the platform. ' +
          'At most 500 characters. Becomes null when the next attempt starts.',
      }),
    ),
    errorCode: nullable(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
    nextAttemptAt: nullable(
      Type.Unsafe<string>({
        ...Instant,
        description: 'When a waiting delivery is attempted or reconciled again; null when it is not waiting',
      }),
    ),
    parts: Type.Optional(
      Type.Array(PostPart, {
        description:
          'The posts of a thread and the first comment, in order; absent for a single post. The fields above are those of the first.',
      }),
    ),
    removal: Type.Optional(
      Type.Object(changeFields, { title: 'Removal', description: 'The last request to remove the published post' }),
    ),
    revisions: Type.Optional(
      Type.Array(Type.Object({ text: Type.String(), ...changeFields }, { title: 'Revision' }), {
        description:
          'The edits of the published post, oldest first; absent before the first. The last `completed` one is its text.',
      }),
    ),
    replacedBy: Type.Optional(
      Type.String({ description: 'Id of the duplicate that was submitted for the same account after the failure' }),
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

export const Metadata = Type.Object({ source: Source, client: Client })

export const PostSchema = Type.Object(
  {
    _id: Type.String({ examples: [EXAMPLE_POST_ID] }),
    userId: Type.String(),
    content: Content,
    selectedPlatforms: Type.Array(PlatformName, { description: 'All platforms of the post' }),
    selectedAccounts: Type.Optional(Type.Array(Type.String())),
    selectedGroups: Type.Optional(Type.Array(Type.String(), { description: 'Ids of `groups`' })),
    groups: Type.Optional(
      Type.Array(
        Type.Object(
          { id: Type.String(), name: Type.String(), accountIds: Type.Array(Type.String()) },
          { title: 'PostGroup' },
        ),
        { description: 'The groups as they were when the post was stored, also when they have changed since' },
      ),
    ),
    platformSpecificContent: Overrides,
    accountSpecificContent: Type.Optional(
      Type.Record(Type.String(), Type.Partial(Content, { title: 'PostContentOverride' }), {
        description: 'Overrides by account id',
      }),
    ),
    scheduledAt: nullable(Instant),
    dueAt: DueAt,
    ifLate: Type.Optional(IfLateSchema),
    timezone: Type.String(),
    status: Status,
    platformStatuses: Type.Array(PlatformStatusSchema),
    correlationId: nullable(Type.String()),
    metadata: Metadata,
    isShortened: Type.Optional(
      Type.Boolean({
        description:
          'Only in lists: the post is too large for its page. It has the beginning of its text, without ' +
          '`platformSpecificContent`, `segments`, `firstComment`, `parts` and alt texts. Get the post by its id to read all of it.',
      }),
    ),
    createdAt: Instant,
    updatedAt: Instant,
    etag: ETagField,
  },
  { title: 'Post' },
)

export const LatestMetrics = byPlatform(SnapshotSchema, { description: 'The latest snapshot by platform' })

export const PostDetail = Type.Object(
  {
    post: PostSchema,
    analytics: LatestMetrics,
    accountAnalytics: AccountSnapshots,
  },
  { title: 'PostDetail' },
)

export const CreatedPost = Type.Object(
  {
    postId: Type.String({ examples: [EXAMPLE_POST_ID] }),
    status: Status,
    scheduledAt: nullable(Instant),
    dueAt: DueAt,
    warnings: Type.Array(ProblemSchema, {
      description: 'Problems that do not reject the post but may make its delivery fail',
    }),
  },
  { title: 'CreatedPost' },
)

export const UpdatedPost = Type.Object({ ...CreatedPost.properties, etag: ETagField }, { title: 'UpdatedPost' })

export const PostConflict = Type.Object(
  {
    ...ErrorBodySchema.properties,
    post: Type.Optional({ ...PostSchema, description: 'The post as it is now, unless it was deleted' }),
  },
  { title: 'PostConflict' },
)

export const ChangedPublication = Type.Object(
  { postId: Type.String(), status: Status, platformStatuses: Type.Array(PlatformStatusSchema) },
  { title: 'ChangedPublication' },
)

export const DeletedPost = Type.Object({ postId: Type.String() })

export const CancelledPost = Type.Object({ postId: Type.String(), status: Status })

const namedAccounts = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50, description }))

/** Absent or `null`: the whole post. */
export const CancelBody = nullable(
  Type.Object(
    { accounts: namedAccounts('Ends only the waiting deliveries to these accounts') },
    { title: 'CancelPost' },
  ),
)

/** Absent or `null`: every failed platform. */
export const RetryBody = nullable(
  Type.Object({ accounts: namedAccounts('Retries only on these accounts') }, { title: 'RetryPost' }),
)

export const EditPublishedBody = Type.Object(
  {
    content: Type.Object({
      text: Type.String({
        ...{ minLength: 1, maxLength: MAX_TEXT_LENGTH, examples: ['Good morning, everyone'] },
        description:
          'Replaces the text of the published post, of a thread that of its first post. Everything else stays.',
      }),
    }),
    accounts: accountsFilter('Edits it only on these accounts, by their ids'),
  },
  { title: 'EditPublished', examples: [{ content: { text: 'Good evening, everyone' } }] },
)

export const RetriedPost = Type.Object({
  postId: Type.String(),
  retryingPlatforms: Type.Array(PlatformName, {
    description: 'Each platform once, also when several of its accounts are retried',
  }),
})

export type PostView = Static<typeof PostSchema>
export type PostPartView = Static<typeof PostPart>
export type PlatformStatusView = Static<typeof PlatformStatusSchema>
