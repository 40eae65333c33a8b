import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Payments } from '../../integrations/payments/payments.ts'

/** @throws ServiceError SERVICE_UNAVAILABLE where payments are switched off */
export function requirePayments<T extends Partial<Payments>>(payments: T | null): T {
  if (!payments) throw new ServiceError('SERVICE_UNAVAILABLE', 'Payments are not set up')
  return payments
}

/**
 * The key of a call that must not happen twice by double clicks or repeated requests. The processor keeps what it answered to a key for
 * a day, failures too: by the minute somebody who tries again later is not told of the past.
 */
export function toMinuteKey(what: string, now: Date): string {
  return `${what}/${Math.floor(now.getTime() / MINUTE)}`
}

/** Whatever the processor refuses or does not answer becomes one answer to the client. */
export async function mapPaymentsError<T>(call: Promise<T>, code: ServiceErrorCode, message: string): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw error instanceof PaymentsError ? new ServiceError(code, message, { cause: error }) : error
  }
}
