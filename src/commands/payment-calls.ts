import { PaymentsError } from '../domain/payments-error.ts'
import { ServiceError, type ServiceErrorCode } from '../domain/service-error.ts'
import type { Payments } from '../integrations/payments.ts'

/** @throws ServiceError SERVICE_UNAVAILABLE where payments are switched off */
export function setUp(payments: Payments | null): Payments {
  if (!payments) throw new ServiceError('SERVICE_UNAVAILABLE', 'Payments are not set up')
  return payments
}

/** Whatever the processor refuses or does not answer becomes one answer to the client. */
export async function orElse<T>(call: Promise<T>, code: ServiceErrorCode, message: string): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw error instanceof PaymentsError ? new ServiceError(code, message, { cause: error }) : error
  }
}
