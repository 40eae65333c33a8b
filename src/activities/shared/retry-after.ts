import { ApplicationFailure } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'

/**
 * The failure that makes Temporal retry an activity after `waitMs`, or by the workflow's retry policy when it is missing. The wait is
 * expected, so the Temporal UI shows it without an alarm.
 */
export function retryAfter(why: string, waitMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'RetryAfter',
    message: why,
    ...(waitMs !== undefined && { nextRetryDelay: waitMs }),
    category: ApplicationFailureCategory.BENIGN,
  })
}
