import { ServiceError } from '../../domain/shared/service-error.ts'
import type { SocketEndReason } from '../../telemetry/metrics.ts'

interface CloseDetails {
  message: string
  code: string
  /** WebSocket close code (RFC 6455, section 7.4). */
  closeCode: number
  /** True when reconnecting with the same token would fail again. */
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

/** The message and close code for each reason to end a connection. A close message has at most 123 bytes. */
export const CLOSE_DETAILS: Record<SocketEndReason, CloseDetails> = {
  unauthorized: UNAUTHORIZED,
  silent: UNAUTHORIZED,
  expired: UNAUTHORIZED,
  disabled: finalClose('ACCOUNT_DISABLED', 'Account is disabled'),
  changed: retryableClose(SERVICE_RESTART, 'The rights of the account have changed. Connect again.'),
  malformed: finalClose('BAD_REQUEST', 'The message is not valid. Correct it and connect again.'),
  flooding: finalClose('RATE_LIMITED', 'Too many messages. Connect again and send fewer.'),
  surplus: finalClose('RATE_LIMITED', 'Too many open connections. Close another tab or device and try again.'),
  slow: retryableClose(TRY_AGAIN_LATER, 'The client does not read its messages. Connect again.'),
  gap: retryableClose(SERVICE_RESTART, 'Notifications may have been missed. Connect again and reload the list.'),
  stopping: retryableClose(SERVICE_RESTART, 'The service is restarting. Connect again.'),
  unavailable: retryableClose(TRY_AGAIN_LATER, 'The service is temporarily unavailable. Try again in a few seconds.'),
}

/** Converts an error on a connection to the reason for ending it. */
export function toSocketEnding(error: unknown): SocketEndReason {
  if (!(error instanceof ServiceError)) return 'unavailable'
  if (error.code === 'ACCOUNT_DISABLED') return 'disabled'
  if (error.code === 'RATE_LIMITED') return 'surplus'
  return error.code === 'UNAUTHORIZED' ? 'unauthorized' : 'unavailable'
}
