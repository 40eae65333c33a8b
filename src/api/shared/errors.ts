import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError, validationFailed, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { ErrorBody } from './schemas/envelope.ts'
import { toProblems } from './validation-problems.ts'

/** How the framework's own refusals read to a client; what is not listed follows its status. */
const FRAMEWORK_ERRORS: Record<string, [ServiceErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['BAD_REQUEST', 'Request body does not have the announced length'],
  // A record id is never that long.
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'Not found'],
  FST_ERR_BAD_URL: ['BAD_REQUEST', 'Request path is not valid'],
}

const RETRY_AFTER_OUTAGE_SECONDS = 2

/** Turns everything thrown into one answer; errors that are nobody's fault but ours are logged whole and answered without a word about them. */
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
  if (error.validation) return validationFailed(toProblems(error.validation))
  const known = FRAMEWORK_ERRORS[error.code]
  if (known) return new ServiceError(known[0], known[1], { cause: error })
  if (isDatabaseOutage(error)) return serviceUnavailableError(error)
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ServiceError('BAD_REQUEST', 'Request is not valid', {
      cause: error,
    })
  }
  return new ServiceError('INTERNAL', 'Internal server error', {
    cause: error,
  })
}

/** Refusals that happen before a route is found, such as a path that cannot be decoded. */
export function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  sendError(request, reply, toServiceError(error))
}

const SOCKET_ERRORS: Record<string, [ServiceErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'Request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive'],
}

/** What is not even HTTP, too large or too slow: there is no request to answer, only a connection to say it on and close. */
export function sendSocketError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, message] = SOCKET_ERRORS[error.code ?? ''] ?? ['BAD_REQUEST', 'Request is not valid HTTP']
  const problem = new ServiceError(code, message)
  const body = JSON.stringify(toErrorBody(problem, randomUUID()))
  socket.end(
    `HTTP/1.1 ${problem.statusCode} ${STATUS_CODES[problem.statusCode] ?? ''}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Its client went away while it was sent: no answer arrives, and whatever failed then is no failure of the service. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.complete === false && (raw.destroyed || raw.socket.destroyed)
}

function abortedRequestError(cause: unknown): ServiceError {
  return new ServiceError('BAD_REQUEST', 'The request ended before its body', { cause })
}

function serviceUnavailableError(cause: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is not available for the moment, try again', {
    cause,
    retryAfterSeconds: RETRY_AFTER_OUTAGE_SECONDS,
  })
}

/** An error handler for a route that has one message for everything that is wrong with its body. */
export function createValidationErrorHandler(message: string) {
  return (error: FastifyError): never => {
    const { code, errors = [] } = toServiceError(error)
    throw code === 'VALIDATION_FAILED' ? new ServiceError(code, message, { cause: error, errors }) : error
  }
}
