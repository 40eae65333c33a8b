import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Payments } from '../../integrations/payments/payments.ts'

/** @throws ServiceError SERVICE_UNAVAILABLE where payments are not configured */
export function requirePayments<T extends Partial<Payments>>(payments: T | null): T {
  if (!payments) throw new ServiceError('SERVICE_UNAVAILABLE', 'Payments are not set up')
  return payments
}

/**
 * Returns an idempotency key for a call that double clicks or repeated requests must not make twice. The processor stores its
 * response to a key for a day, failures too. With the minute in the key, a later attempt does not get an old failure.
 */
export function toMinuteKey(action: string, now: Date): string {
  return `${action}/${Math.floor(now.getTime() / MINUTE)}`
}

/** Maps every refusal or outage of the processor to one error for the client. */
export async function mapPaymentsError<T>(call: Promise<T>, code: ServiceErrorCode, message: string): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw error instanceof PaymentsError ? new ServiceError(code, message, { cause: error }) : error
  }
}
