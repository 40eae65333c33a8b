import type { components } from './generated/schema.ts'

type Schemas = components['schemas']

/** A problem with one field of a request, or with one account of a post. */
export type Problem = Schemas['Problem']

/** The body of every error that the API returns. `post` is with `PRECONDITION_FAILED`: the post as it is now. */
export type ErrorBody = Schemas['Error'] & { post?: Schemas['Post'] }

/** The codes of this version of the API. A newer service may send others. */
export type ErrorCode = Schemas['ErrorCode']

/** The base of all errors that the SDK throws itself. */
export class PostonceError extends Error {
  override name = 'PostonceError'
}

/** The API refused a request. */
export class ApiError extends PostonceError {
  override name = 'ApiError'
  readonly status: number
  /** `UNKNOWN` when the response is not from the API, for example from a proxy. */
  readonly code: ErrorCode | 'UNKNOWN'
  /** Every problem with the input; empty for other errors. */
  readonly problems: Problem[]
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | null
  /** `null` when the API names no time. */
  readonly retryAfterSeconds: number | null
  /** The whole body; `null` when the response is not from the API. */
  readonly body: ErrorBody | null

  constructor(response: Response, body: ErrorBody | null) {
    super(body?.message ?? `The server responded with status ${response.status}.`)
    this.status = response.status
    this.code = body?.code ?? 'UNKNOWN'
    this.problems = body?.errors ?? []
    this.requestId = body?.requestId ?? response.headers.get('x-request-id')
    this.retryAfterSeconds = parseRetryAfter(response.headers)
    this.body = body
  }
}

/** No response arrived. The service may have carried out the request. */
export class ConnectionError extends PostonceError {
  override name = 'ConnectionError'
}

/** The object storage refused an upload. */
export class UploadError extends PostonceError {
  override name = 'UploadError'
  readonly status: number

  constructor(status: number) {
    super(`The object storage refused the upload with status ${status}. Check the file, or upload it again.`)
    this.status = status
  }
}

/** A wait ended before the post was published. The post itself continues. */
export class WaitTimeoutError extends PostonceError {
  override name = 'WaitTimeoutError'
}

/** A request to a webhook endpoint is not from postonce, or too old. Respond with status 400. */
export class WebhookVerificationError extends PostonceError {
  override name = 'WebhookVerificationError'
}

/** Returns the error of a failed response. */
export async function readApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  return new ApiError(response, isErrorBody(body) ? body : null)
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body
}

/** Returns seconds; `null` when the header is absent or a date, which the API never sends. */
export function parseRetryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after')
  return value !== null && /^\d+$/.test(value) ? Number(value) : null
}
