import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { SERVICE_ERROR_CODES } from '../../../domain/shared/service-error.ts'

/** One problem of an input. */
export const ProblemSchema = Type.Object(
  {
    path: Type.String({
      description: 'Dotted path into the body, such as content.mediaItems.0.mimeType',
      examples: ['selectedPlatforms.0'],
    }),
    code: Type.String({ examples: ['PLATFORM_NOT_CONNECTED'] }),
    message: Type.String(),
    platform: Type.Optional(Type.String()),
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
        description: 'Every problem of the input at once',
      }),
    ),
    usage: Type.Optional(Type.Integer({ description: 'With a plan limit: what is used up' })),
    limit: Type.Optional(Type.Integer({ description: 'With a plan limit: what the plan allows' })),
    bucket: Type.Optional(Type.String({ description: 'With a rate limit: which one' })),
    draftId: Type.Optional(
      Type.String({ description: 'With `POST_DUPLICATED`: the draft that took the place of the post' }),
    ),
    missing: Type.Optional(Type.Array(Type.String(), { description: 'With a health route: what is not there' })),
  },
  { $id: 'Error', description: 'Every error of the API has this body' },
)

export type ErrorBody = Static<typeof ErrorBodySchema>

const errorRef = Type.Unsafe<ErrorBody>({ $ref: 'Error#' })

/** Serializes the errors of every route; which ones it answers with is said by `errorCodesOf`. To be spread into `schema.response`. */
export const errorResponses = { '4xx': errorRef, '5xx': errorRef }

/** The envelope `{success, message, data}`. */
export const success = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Literal(true), message: Type.String(), data })

/** The envelope of answers without data. */
export const Acknowledged = Type.Object(
  { success: Type.Literal(true), message: Type.String() },
  { title: 'Acknowledgment' },
)

/** Answers about payments and for admins carry no `success` (contract section 1). */
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
