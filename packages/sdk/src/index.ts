export { createClient, type Client, type ClientOptions, type ConnectOptions } from './client.ts'
export {
  ApiError,
  ConnectionError,
  PostonceError,
  UploadError,
  WaitTimeoutError,
  WebhookVerificationError,
  type ErrorBody,
  type ErrorCode,
  type Problem,
} from './errors.ts'
export type { Event, EventSelection, EventType } from './events.ts'
export type { components, operations, paths } from './generated/schema.ts'
export type { Import, ImportRow, ImportWaitOptions, PlanOptions } from './imports.ts'
export type { CallOptions } from './operations.ts'
export { isServiceUrl } from './service-url.ts'
export { logIn, type LogInOptions, type Session } from './sessions.ts'
export type { MediaItem, UploadOptions, UploadProgress } from './uploads.ts'
export type { PostProgress, WaitOptions } from './wait.ts'
export { verifyWebhook, type VerifyOptions } from './webhooks.ts'
