import { Type, type Static } from '@sinclair/typebox'
import { FAILURE_CODES, type FailureCode } from '../../../domain/posts/failure.ts'
import { TIMELINE_RESULTS, TIMELINE_TYPES } from '../../../domain/posts/timeline.ts'
import { Instant, nullable, PlatformName, stringEnum } from '../../shared/schemas/common.ts'
import { DueAt, Status } from './fields.ts'
import { PlatformStatusSchema } from './post.ts'

/** Only for the OpenAPI document; the handler reads the header itself. */
export const ConditionalHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of the last response; returns 304 while the status is unchanged' }),
  ),
})

export const PostProgress = Type.Object(
  {
    postId: Type.String(),
    status: Status,
    platformStatuses: Type.Array(PlatformStatusSchema),
    scheduledAt: nullable(Instant),
    dueAt: DueAt,
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
          accountId: Type.Optional(Type.String({ description: 'Id of the account' })),
          result: Type.Optional(stringEnum(TIMELINE_RESULTS)),
          errorCode: Type.Optional(stringEnum<FailureCode>(FAILURE_CODES, { title: 'FailureCode' })),
          platformCode: Type.Optional(Type.String({ description: 'The error code of the platform' })),
          platformText: Type.Optional(
            Type.String({
              description: 'The error text of the platform, without markup and secrets; at most 300 characters',
            }),
          ),
          round: Type.Optional(Type.Integer({ description: "Number of the user's retry; 0 is the first delivery" })),
          attempt: Type.Optional(Type.Integer({ description: 'Number of the call to the platform' })),
          part: Type.Optional(
            Type.Integer({ minimum: 1, description: 'Number of the post in a thread; the first comment is the last' }),
          ),
          until: Type.Optional(
            Type.Unsafe<string>({ ...Instant, description: 'When the delivery continues or the hold ends' }),
          ),
          workflowRunId: Type.Optional(Type.String({ description: 'Temporal run id, for events of a worker' })),
        },
        { title: 'TimelineEvent' },
      ),
      { description: 'Oldest first' },
    ),
  },
  { title: 'PostTimeline' },
)

export type PostProgressView = Static<typeof PostProgress>
export type PostTimelineView = Static<typeof PostTimeline>
