import type { CommandContext } from '../context.ts'

/**
 * Copies a change made at the payment processor to the user's record without waiting for its webhook. If the processor does not answer,
 * the webhook does it later.
 * @returns whether the record is up to date
 */
export async function syncNow({ syncSubscription, logger }: CommandContext, userId: string): Promise<boolean> {
  try {
    await syncSubscription(userId)
    return true
  } catch (error) {
    logger.warn({ err: error, userId }, 'subscription sync failed')
    return false
  }
}
