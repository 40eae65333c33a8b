import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { RefusedCall } from '../../platforms/shared/refused-call.ts'

const LARGEST_MESSAGE_BYTES = 4_096

const texts = Type.Record(Type.String(), Type.String())
const closed = { additionalProperties: false }
const optional = Type.Optional

/** The fields of a message that our service may send. Unknown keys are refused. */
const MessageSchema = Type.Object(
  {
    token: Type.String(),
    notification: Type.Object({ title: Type.String(), body: Type.String(), image: optional(Type.String()) }, closed),
    data: texts,
    android: optional(
      Type.Object(
        {
          collapse_key: optional(Type.String()),
          ttl: optional(Type.String({ pattern: '^[0-9]+([.][0-9]{1,9})?s$' })),
          notification: optional(Type.Object({ tag: Type.String() }, closed)),
        },
        closed,
      ),
    ),
    apns: optional(
      Type.Object(
        {
          headers: texts,
          payload: Type.Object({ aps: Type.Object({ 'thread-id': optional(Type.String()) }, closed) }),
        },
        closed,
      ),
    ),
    webpush: optional(
      Type.Object(
        {
          headers: optional(texts),
          notification: optional(Type.Object({ tag: Type.String() })),
          fcm_options: optional(Type.Object({ link: Type.String({ pattern: '^https://' }) }, closed)),
        },
        closed,
      ),
    ),
  },
  closed,
)

export type TakenMessage = Static<typeof MessageSchema>

const TOKEN = /^[\w:-]{20,}$/
const APNS_COLLAPSE_ID_BYTES = 64

/** @throws RefusedCall with Firebase's wording */
export function readMessage(json: unknown): TakenMessage {
  const message = namedAsInProto((json as { message?: unknown } | undefined)?.message)
  const [error] = [...Value.Errors(MessageSchema, message)]
  if (error) throw invalid(`message${error.path.replaceAll('/', '.')}`, error.message)
  const taken = message as TakenMessage
  const { token, ...rest } = taken
  if (!TOKEN.test(token)) {
    throw invalid('message.token', 'The registration token is not a valid FCM registration token')
  }
  if (Buffer.byteLength(JSON.stringify(rest)) > LARGEST_MESSAGE_BYTES) throw invalid('message', 'Message too big')
  if ((taken.apns?.headers['apns-collapse-id']?.length ?? 0) > APNS_COLLAPSE_ID_BYTES) {
    throw invalid('message.apns.headers', 'apns-collapse-id is longer than 64 bytes')
  }
  return taken
}

/** Protocol buffers in JSON have two names for a field; Firebase's libraries use both. */
function namedAsInProto(message: unknown): unknown {
  const { webpush } = (message ?? {}) as { webpush?: { fcmOptions?: unknown } }
  if (webpush?.fcmOptions === undefined) return message
  const { fcmOptions, ...rest } = webpush
  return { ...(message as object), webpush: { ...rest, fcm_options: fcmOptions } }
}

function invalid(field: string, description: string): RefusedCall {
  return new RefusedCall(
    fcmError(400, 'INVALID_ARGUMENT', description, [
      fcmDetail('INVALID_ARGUMENT'),
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description }] },
    ]),
  )
}

export function unregistered(): RefusedCall {
  return new RefusedCall(fcmError(404, 'NOT_FOUND', 'Requested entity was not found.', [fcmDetail('UNREGISTERED')]))
}

export function fcmError(code: number, status: string, message: string, details?: object[]): SandboxResponse {
  return { status: code, body: { error: { code, message, status, ...(details && { details }) } } }
}

function fcmDetail(errorCode: string): object {
  return { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }
}
