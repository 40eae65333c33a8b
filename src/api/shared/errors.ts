import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SecretUnreadableError } from '../../domain/shared/secrets.ts'
import { ServiceError, validationFailed, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { ErrorBody } from './schemas/envelope.ts'
import { toProblems, type RequestPart } from './validation-problems.ts'

/** Error responses for Fastify's own error codes; other Fastify errors are mapped by their status. */
const FRAMEWORK_ERRORS: Record<string, [ServiceErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large. Send a smaller one.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'Content-Type must be application/json. Set the header and send JSON.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'BAD_REQUEST',
    'Request body does not match its Content-Length. Send the request again.',
  ],
  // No record id is that long.
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'Not found'],
  FST_ERR_BAD_URL: ['BAD_REQUEST', 'Request path is not valid. Correct its percent-encoding.'],
}

const RETRY_AFTER_OUTAGE_SECONDS = 2

/** Converts every thrown error to an error response. Unexpected errors are logged in full, and the client gets a generic 500. */
export function installErrorHandling(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = isAborted(request) ? abortedRequestError(error) : toServiceError(error)
    if (problem.statusCode >= 500) request.log.error({ err: error, errorCode: problem.code }, 'request failed')
    return sendError(request, reply, problem)
  })
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
  if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(error.statusCode).type('application/json; charset=utf-8').send(toErrorBody(error, request.id))
}

export function toErrorBody(error: ServiceError, requestId: string): ErrorBody {
  return {
    success: false,
    message: error.message,
    statusCode: error.statusCode,
    code: error.code,
    requestId,
    ...(error.errors ? { errors: error.errors } : {}),
    ...error.details,
  }
}

function toServiceError(error: FastifyError | ServiceError): ServiceError {
  if (error instanceof ServiceError) return error
  if (error.validation)
    return validationFailed(toProblems(error.validation, { part: error.validationContext as RequestPart }))
  const known = FRAMEWORK_ERRORS[error.code]
  if (known) return new ServiceError(known[0], known[1], { cause: error })
  if (isDatabaseOutage(error)) return serviceUnavailableError(error)
  if (error instanceof SecretUnreadableError) return serviceUnavailableError(error)
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ServiceError('BAD_REQUEST', 'Request is not valid. Correct it and send it again.', {
      cause: error,
    })
  }
  return new ServiceError('INTERNAL', 'Internal server error', {
    cause: error,
  })
}

/** Responds to errors that occur before routing, such as a path that cannot be decoded. */
export function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  sendError(request, reply, toServiceError(error))
}

const SOCKET_ERRORS: Record<string, [ServiceErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'Request headers are too large. Send fewer or shorter headers.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive. Send it again.'],
}

/** Responds to connections without a complete HTTP request: malformed, too large or too slow. Writes the error and closes the socket. */
export function sendSocketError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, message] = SOCKET_ERRORS[error.code ?? ''] ?? [
    'BAD_REQUEST',
    'Request is not valid HTTP. Correct it and send it again.',
  ]
  const problem = new ServiceError(code, message)
  const body = JSON.stringify(toErrorBody(problem, randomUUID()))
  socket.end(
    `HTTP/1.1 ${problem.statusCode} ${STATUS_CODES[problem.statusCode] ?? ''}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Returns true when the client disconnected while sending the request. Errors of such a request are not failures of the service. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.complete === false && (raw.destroyed || raw.socket.destroyed)
}

function abortedRequestError(cause: unknown): ServiceError {
  return new ServiceError('BAD_REQUEST', 'The request ended before its body was complete. Send it again.', { cause })
}

function serviceUnavailableError(cause: unknown): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The service is temporarily unavailable. Try again in a few seconds.',
    {
      cause,
      retryAfterSeconds: RETRY_AFTER_OUTAGE_SECONDS,
    },
  )
}

/** Creates an error handler that replaces the message of every validation error by one text. */
export function createValidationErrorHandler(message: string) {
  return (error: FastifyError): never => {
    const { code, errors = [] } = toServiceError(error)
    throw code === 'VALIDATION_FAILED' ? new ServiceError(code, message, { cause: error, errors }) : error
  }
}
