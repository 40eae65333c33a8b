/** All values of `code` in error bodies, each with its HTTP status. */
const STATUS_BY_CODE = {
  VALIDATION_FAILED: 400,
  BAD_REQUEST: 400,
  INVALID_MEDIA_TYPE: 400,
  INVALID_CREDENTIALS: 401,
  UNAUTHORIZED: 401,
  PLATFORM_CREDENTIALS_INVALID: 400,
  PLATFORM_NOT_CONNECTED: 400,
  PLATFORM_NOT_SUPPORTED: 400,
  NO_FAILED_PLATFORMS: 400,
  OTP_INVALID: 400,
  ADDRESS_NOT_VERIFIED: 400,
  RESET_TOKEN_INVALID: 400,
  INCORRECT_PASSWORD: 400,
  PASSWORD_NOT_SUPPORTED: 400,
  CAPTION_REFUSED: 400,
  IDEMPOTENCY_KEYS_DIFFER: 400,
  WEBHOOK_INVALID: 400,
  NO_BILLING_ACCOUNT: 400,
  NO_ACTIVE_SUBSCRIPTION: 400,
  NO_SUBSCRIPTION_ID: 400,
  ALREADY_CANCELLING: 400,
  FORBIDDEN: 403,
  ACCOUNT_DISABLED: 403,
  FRESH_LOGIN_REQUIRED: 403,
  SESSION_REQUIRED: 403,
  INSUFFICIENT_SCOPE: 403,
  POST_LIMIT_REACHED: 403,
  CAPTION_LIMIT_REACHED: 403,
  UPLOAD_QUOTA_REACHED: 403,
  ACCOUNT_LIMIT_REACHED: 403,
  API_KEY_LIMIT_REACHED: 403,
  GROUP_LIMIT_REACHED: 403,
  IMPORT_LIMIT_REACHED: 403,
  WEBHOOK_LIMIT_REACHED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  POST_NOT_EDITABLE: 409,
  POST_IN_PROGRESS: 409,
  NOTHING_PUBLISHED: 409,
  RECONNECT_REQUIRED: 409,
  IMPORT_STATE: 409,
  IMPORT_HAS_ERRORS: 409,
  ACCOUNT_ALREADY_CONNECTED: 409,
  ADDRESS_TAKEN: 409,
  GROUP_NAME_TAKEN: 409,
  OWN_ACCOUNT: 409,
  ALREADY_SUBSCRIBED: 409,
  WEBHOOK_DISABLED: 409,
  MEDIA_IN_USE: 409,
  EVENTS_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  LINK_UNREADABLE: 422,
  MEDIA_UNREADABLE: 422,
  UPGRADE_REQUIRED: 426,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  PAYMENT_SESSION_FAILED: 500,
  BILLING_PORTAL_FAILED: 500,
  PLATFORM_UNAVAILABLE: 502,
  CAPTION_PROVIDER_FAILED: 502,
  PAYMENTS_UNAVAILABLE: 502,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ServiceErrorCode = keyof typeof STATUS_BY_CODE

/** Returns the HTTP status of an error code. */
export function toHttpStatus(code: ServiceErrorCode): number {
  return STATUS_BY_CODE[code]
}

/** Characters of a path in a problem; names of unknown fields can be long. */
export const MAX_PATH_LENGTH = 200

/** A problem of the input, listed in `errors` of a validation error body. `path` is dotted, like `content.mediaItems.0.mimeType`. */
export interface Problem {
  path: string
  code: string
  /** Complete sentences: the problem, then the remedy. */
  message: string
  platform?: string
  /** The account, where the user chose it. */
  accountId?: string
  /** When the post would be published, if that is later than its time, ISO 8601. */
  nextFreeAt?: string
}

interface ServiceErrorOptions {
  cause?: unknown
  /** All problems of the input, for validation errors. */
  errors?: Problem[]
  /** Further top-level fields of the error body, such as `usage` and `limit`. */
  details?: Record<string, string | number | string[]>
  retryAfterSeconds?: number
}

/** The error type of the service. The API converts it to an error response and sends `message` to the client unchanged. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode
  readonly errors: Problem[] | undefined
  readonly details: Record<string, string | number | string[]> | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ServiceErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.errors = options.errors
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get statusCode(): number {
    return toHttpStatus(this.code)
  }
}

/** Returns an error with all problems of the input. */
export function validationFailed(errors: Problem[]): ServiceError {
  const [first] = errors
  const message = first ? `Validation failed: ${first.message}` : 'Validation failed'
  return new ServiceError('VALIDATION_FAILED', message, { errors })
}

/** All codes of error bodies, for the response schema. */
export const SERVICE_ERROR_CODES = Object.keys(STATUS_BY_CODE) as ServiceErrorCode[]
