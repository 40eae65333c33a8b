import { ServiceError } from '../../domain/shared/service-error.ts'
import type { SocketEnding } from '../../telemetry/metrics.ts'

interface CloseDetails {
  message: string
  code: string
  /** Of the WebSocket protocol (RFC 6455, section 7.4). */
  closeCode: number
  /** Whether the same client with the same token would only be turned away again. */
  isFinal: boolean
}

const POLICY_VIOLATION = 1008
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

const UNAUTHORIZED = { message: 'Unauthorized', code: 'UNAUTHORIZED', closeCode: POLICY_VIOLATION, isFinal: true }
const retryableClose = (closeCode: number, message: string): CloseDetails => ({
  message,
  code: 'SERVICE_UNAVAILABLE',
  closeCode,
  isFinal: false,
})
const finalClose = (code: string, message: string): CloseDetails => ({
  message,
  code,
  closeCode: POLICY_VIOLATION,
  isFinal: true,
})

/** What a client is told when the service ends its connection. */
export const CLOSE_DETAILS: Record<SocketEnding, CloseDetails> = {
  unauthorized: UNAUTHORIZED,
  silent: UNAUTHORIZED,
  expired: UNAUTHORIZED,
  disabled: finalClose('ACCOUNT_DISABLED', 'Account is disabled'),
  changed: retryableClose(SERVICE_RESTART, 'The rights of the account have changed, connect again'),
  garbled: finalClose('BAD_REQUEST', 'The message is not understood'),
  flooding: finalClose('RATE_LIMITED', 'Too many messages. Connect again and send fewer.'),
  crowded: finalClose('RATE_LIMITED', 'Too many open connections. Close another tab or device and try again.'),
  slow: retryableClose(TRY_AGAIN_LATER, 'The client does not read what it is sent'),
  gap: retryableClose(SERVICE_RESTART, 'Notifications may have been missed, connect again'),
  stopping: retryableClose(SERVICE_RESTART, 'The service restarts, connect again'),
  unavailable: retryableClose(TRY_AGAIN_LATER, 'The service is not available for the moment, try again'),
}

/** What an error means for the connection on which it came up. */
export function toSocketEnding(error: unknown): SocketEnding {
  if (!(error instanceof ServiceError)) return 'unavailable'
  if (error.code === 'ACCOUNT_DISABLED') return 'disabled'
  if (error.code === 'RATE_LIMITED') return 'crowded'
  return error.code === 'UNAUTHORIZED' ? 'unauthorized' : 'unavailable'
}
