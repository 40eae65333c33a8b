import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { mapPaymentsError, requirePayments } from './payment-calls.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns the processor's page on which users manage cards, invoices and the subscription. Its address works once, so every
 * call requests its own.
 * @throws ServiceError NO_BILLING_ACCOUNT, BILLING_PORTAL_FAILED
 */
export async function openBillingPortal(deps: CommandContext, userId: string): Promise<{ url: string }> {
  const user = await deps.users.findById(userId)
  const customerId = user?.subscription.processorCustomerId ?? null
  if (customerId === null) {
    throw new ServiceError('NO_BILLING_ACCOUNT', 'No billing account found. Please subscribe first.')
  }
  const opening = requirePayments(deps.payments).openPortal({
    customerId,
    returnUrl: `${deps.config.FRONTEND_URL}/settings`,
    idempotencyKey: `portal/${randomUUID()}`,
  })
  return mapPaymentsError(opening, 'BILLING_PORTAL_FAILED', 'Failed to open billing portal')
}
