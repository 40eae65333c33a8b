import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { SERVICE_ERROR_CODES } from '../../../domain/shared/service-error.ts'

/** A problem with the input. */
export const ProblemSchema = Type.Object(
  {
    path: Type.String({
      description: 'Dotted path into the body, such as content.mediaItems.0.mimeType',
      examples: ['selectedPlatforms.0'],
    }),
    code: Type.String({ examples: ['PLATFORM_NOT_CONNECTED'] }),
    message: Type.String(),
    platform: Type.Optional(Type.String()),
    accountId: Type.Optional(Type.String()),
    nextFreeAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'With `QUOTA_LIKELY_EXCEEDED` and `TIME_CROWDED`: when the post would be published',
      }),
    ),
  },
  { title: 'Problem' },
)

export const ErrorBodySchema = Type.Object(
  {
    success: Type.Literal(false),
    message: Type.String(),
    statusCode: Type.Integer(),
    code: Type.Unsafe<(typeof SERVICE_ERROR_CODES)[number]>({
      title: 'ErrorCode',
      type: 'string',
      enum: SERVICE_ERROR_CODES,
    }),
    requestId: Type.String(),
    errors: Type.Optional(
      Type.Array(ProblemSchema, {
        description: 'All problems with the input',
      }),
    ),
    usage: Type.Optional(Type.Integer({ description: 'With a plan limit: the amount used' })),
    limit: Type.Optional(Type.Integer({ description: 'With a plan limit: the amount allowed' })),
    scope: Type.Optional(Type.String({ description: 'With `INSUFFICIENT_SCOPE`: the scope that the API key lacks' })),
    bucket: Type.Optional(Type.String({ description: 'With a rate limit: its name' })),
    oldest: Type.Optional(Type.Integer({ description: 'With `EVENTS_EXPIRED`: the first sequence that is stored' })),
    latest: Type.Optional(Type.Integer({ description: 'With `EVENTS_EXPIRED`: the last sequence' })),
    postIds: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'With `MEDIA_IN_USE`: up to 20 posts that need the file; with `POST_LIMIT_REACHED`: the draft that has the share of the post',
      }),
    ),
    missing: Type.Optional(Type.Array(Type.String(), { description: 'With a health route: the missing dependencies' })),
  },
  { $id: 'Error', description: 'Every error of the API has this body' },
)

export type ErrorBody = Static<typeof ErrorBodySchema>

const errorRef = Type.Unsafe<ErrorBody>({ $ref: 'Error#' })

/** Serializes the errors of every route; spread it into `schema.response`. `deriveErrorCodes` lists the codes of a route. */
export const errorResponses = { '4xx': errorRef, '5xx': errorRef }

/** The envelope `{success, message, data}`. */
export const success = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Literal(true), message: Type.String(), data })

/** The envelope of responses without data. */
export const Acknowledged = Type.Object(
  { success: Type.Literal(true), message: Type.String() },
  { title: 'Acknowledgment' },
)

/** The envelope of payment and admin responses, which have no `success` field (see docs/guide/api.md). */
export const messageWithData = <T extends TSchema>(data: T) => Type.Object({ message: Type.String(), data })

export const messageOnly = Type.Object({ message: Type.String() })

export const ok = <T>(message: string, data: T) => ({
  success: true as const,
  message,
  data,
})

export const acknowledged = (message: string) => ({
  success: true as const,
  message,
})
