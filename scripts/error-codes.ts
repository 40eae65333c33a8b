/**
 * Writes the lists of docs/reference/error-codes.md from the error code lists of `src/domain`; with `--check` it only compares, and
 * fails when they differ. A code without an explanation below does not compile.
 *
 *   node scripts/run.mjs scripts/error-codes.ts [--check]
 */
import { CONNECT_REASONS, type ConnectReason } from '../src/domain/accounts/platform-connect.ts'
import { FAILURE_CODES, type FailureCode } from '../src/domain/posts/failure.ts'
import { SERVICE_ERROR_CODES, toHttpStatus, type ServiceErrorCode } from '../src/domain/shared/service-error.ts'
import { runSectionScript, updateSection, type Section } from './document-section.ts'

const PAGE = 'docs/reference/error-codes.md'

const SERVICE_ERRORS: Record<ServiceErrorCode, string> = {
  VALIDATION_FAILED: 'The input breaks rules. `errors` lists all problems.',
  BAD_REQUEST: 'Not valid HTTP, JSON or UTF-8, or nested too deeply.',
  INVALID_MEDIA_TYPE: 'The upload route does not accept this `contentType`.',
  INVALID_CREDENTIALS: 'Email or password is wrong.',
  UNAUTHORIZED: 'The request has no valid session or API key.',
  PLATFORM_CREDENTIALS_INVALID: 'The platform refused the credentials.',
  PLATFORM_NOT_CONNECTED: 'The user has no connected account on this platform.',
  PLATFORM_NOT_SUPPORTED: 'The deployment has no application for this platform.',
  NO_FAILED_PLATFORMS: 'No platform of the post has failed.',
  OTP_INVALID: 'The one-time code is wrong or has expired.',
  ADDRESS_NOT_VERIFIED: 'Registration needs an address that was verified with a code.',
  RESET_TOKEN_INVALID: 'The password reset link was used or has expired.',
  INCORRECT_PASSWORD: 'The current password is wrong.',
  PASSWORD_NOT_SUPPORTED: 'The account logs in with Google and has no password.',
  CAPTION_REFUSED: 'The caption provider declined the content.',
  IDEMPOTENCY_KEYS_DIFFER: '`Idempotency-Key` and `correlationId` name different keys.',
  WEBHOOK_INVALID: 'A payment webhook has no valid signature or event.',
  NO_BILLING_ACCOUNT: 'The user has never paid.',
  NO_ACTIVE_SUBSCRIPTION: 'The user is not on Pro.',
  NO_SUBSCRIPTION_ID: 'The user is on Pro without a subscription.',
  ALREADY_CANCELLING: 'The subscription already ends with the current period.',
  FORBIDDEN: 'The user is no admin, or the origin is not allowed.',
  ACCOUNT_DISABLED: 'An admin disabled the account.',
  FRESH_LOGIN_REQUIRED: 'Erasing an account without a password needs a login of the last ten minutes.',
  SESSION_REQUIRED: 'The route accepts access tokens, not API keys.',
  INSUFFICIENT_SCOPE: 'The API key lacks a scope, which `scope` in the body names.',
  POST_LIMIT_REACHED: 'The plan allows no further posts.',
  CAPTION_LIMIT_REACHED: 'The plan allows no further caption generations.',
  UPLOAD_QUOTA_REACHED: 'Unused uploads take up the whole quota. They are removed within three days.',
  ACCOUNT_LIMIT_REACHED: 'The plan allows no further connected account.',
  IMPORT_LIMIT_REACHED: 'The user has 10 imports. Delete one.',
  IMPORT_STATE: 'The import cannot do this in its present state.',
  IMPORT_HAS_ERRORS: 'Rows have errors. Correct them, or apply with `skipErrors`.',
  API_KEY_LIMIT_REACHED: 'The user has 20 API keys. Delete one.',
  WEBHOOK_LIMIT_REACHED: 'The user has 10 webhooks. Delete one.',
  NOT_FOUND: 'The record does not exist, belongs to another user, or is not in the required state.',
  METHOD_NOT_ALLOWED: 'The path lacks this HTTP method.',
  REQUEST_TIMEOUT: 'The request took too long to arrive.',
  POST_NOT_EDITABLE: 'Delivery has begun, so the post can no longer be edited.',
  POST_IN_PROGRESS: 'The post is being delivered or changed. Read it again.',
  EVENTS_EXPIRED: 'Events after the given sequence are no longer stored.',
  POST_DUPLICATED: 'A draft took over the allowance of this post.',
  RECONNECT_REQUIRED: 'The platform no longer accepts the login.',
  ACCOUNT_ALREADY_CONNECTED: 'Another user has connected the same account.',
  ADDRESS_TAKEN: 'The address already has an account.',
  OWN_ACCOUNT: 'Admins cannot disable their own account.',
  WEBHOOK_DISABLED: 'The webhook gets no events. Enable it first.',
  ALREADY_SUBSCRIBED: 'The user already has a subscription.',
  PAYLOAD_TOO_LARGE: 'The request body is larger than the route allows.',
  UNSUPPORTED_MEDIA_TYPE: 'The type, charset or compression of the body is not supported.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used before with a different body.',
  UPGRADE_REQUIRED: 'The path is a WebSocket endpoint.',
  RATE_LIMITED: 'Too many requests.',
  HEADERS_TOO_LARGE: 'The request headers are too large.',
  INTERNAL: 'An unexpected error. The log has it under `requestId`.',
  PAYMENT_SESSION_FAILED: 'The payment processor created no checkout session.',
  BILLING_PORTAL_FAILED: 'The payment processor created no portal session.',
  PLATFORM_UNAVAILABLE: 'The platform does not respond or reports an internal error.',
  CAPTION_PROVIDER_FAILED: 'The caption provider failed or timed out. Nothing was counted.',
  PAYMENTS_UNAVAILABLE: 'The payment processor failed. Nothing was changed.',
  SERVICE_UNAVAILABLE: 'A server that the request needs is down, or the process is busy.',
}

const FAILURES: Record<FailureCode, string> = {
  unauthorized: 'The platform rejected the login, and it could not be renewed.',
  permission: 'The connection lacks a permission. Connect again and grant it.',
  rate_limited: 'The platform asks for a longer wait than an hour.',
  not_found: 'The platform does not know an object that the call names.',
  validation: 'The platform refused the content. Change the post.',
  media_not_ready: 'The platform was still processing the media an hour after the post was due.',
  media_fetch_failed: 'The platform could not download the media twice.',
  duplicate: 'The platform refuses the post as a repeat of another one.',
  blocked_by_platform: 'The platform has restricted the account. Resolve this there.',
  transient: 'The platform failed temporarily in five attempts.',
  PLATFORM_NOT_CONNECTED: 'The user had no connected account when the post was due.',
  PLATFORM_NOT_SUPPORTED: 'The deployment has no application for this platform.',
  ACCOUNT_DISABLED: 'The account of the user was disabled when the post was due.',
  OUTCOME_UNKNOWN: 'Whether the post was published is unknown. Check the platform before retrying.',
  MEDIA_UNAVAILABLE: 'A file is missing from object storage, or differs from what the post says.',
  TOO_LATE: 'The post could not be sent within `DELIVERY_MAX_LATENESS_MS`.',
  QUOTA_EXCEEDED: 'The platform accepts no more posts of the account for now. The post waits until `nextAttemptAt`.',
  INTERNAL: 'The service itself failed in five attempts.',
}

const CONNECT_FAILURES: Record<ConnectReason, string> = {
  DENIED: 'The user declined on the page of the platform.',
  LOGIN_REFUSED: 'The platform refused the login or the code.',
  MISSING_PERMISSION: 'A permission that publishing needs was not granted.',
  NO_PAGE: 'The login has no Facebook Page or Tumblr blog, or the user selected none.',
  ACCOUNT_ALREADY_CONNECTED: 'Another user has connected the same account.',
  ACCOUNT_LIMIT_REACHED: 'The plan allows no further connected account.',
  PLATFORM_UNAVAILABLE: 'The platform did not respond or failed. Try again later.',
  ATTEMPT_INVALID: 'The attempt has expired, was used, or belongs to another browser or session.',
  INTERNAL: 'An unexpected error of the service.',
}

/** Returns the generated sections of the page, with every code in the order of its list; those of the API by their status. */
export function errorCodeSections(): Section[] {
  const statuses = [...new Set(SERVICE_ERROR_CODES.map(toHttpStatus))].toSorted((one, other) => one - other)
  const service = statuses.map((status) => {
    const codes = SERVICE_ERROR_CODES.filter((code) => toHttpStatus(code) === status)
    return `**${status}**\n\n${listMeanings(codes, SERVICE_ERRORS)}`
  })
  return [
    { page: PAGE, name: 'service-errors', content: service.join('\n\n') },
    { page: PAGE, name: 'delivery-failures', content: listMeanings(FAILURE_CODES, FAILURES) },
    { page: PAGE, name: 'connect-reasons', content: listMeanings(CONNECT_REASONS, CONNECT_FAILURES) },
  ]
}

function listMeanings<Code extends string>(codes: readonly Code[], meaningByCode: Record<Code, string>): string {
  return codes.map((code) => `- \`${code}\`: ${meaningByCode[code]}`).join('\n')
}

await runSectionScript(import.meta.url, async (check) => {
  for (const section of errorCodeSections()) await updateSection(section, { check })
})
