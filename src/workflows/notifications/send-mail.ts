import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { SendMailResult } from '../../activities/notifications/send-mail.ts'
import { DAY, MINUTE, SECOND } from '../../domain/shared/times.ts'

/** Retried until the mail is sent or expired, which the activity decides. */
const mail = proxyActivities<Activities>({
  startToCloseTimeout: 40 * SECOND,
  scheduleToCloseTimeout: 3 * DAY,
  retry: { initialInterval: SECOND, maximumInterval: MINUTE },
})

/** Sends the stored mail with this id. */
export async function sendMail(mailId: string): Promise<SendMailResult> {
  return mail.sendMail(mailId)
}
