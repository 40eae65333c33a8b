import { activityInfo, ApplicationFailure, cancellationSignal, heartbeat, log } from '@temporalio/activity'
import { openMail } from '../../commands/notifications/mail-secrets.ts'
import { MailError, type MailFailure } from '../../domain/notifications/mails.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Mail } from '../../store/notifications/mails.ts'
import type { Context } from '../../context.ts'

/** Longer than the longest time between two attempts. */
const LEASE_MS = 3 * MINUTE
/** The heartbeat detail after the mail server accepted the mail. It survives a failed database write. */
const ACCEPTED = 'accepted by the mail server'

/** `gone`: the mail was sent or abandoned before. */
export type SendMailResult = 'sent' | 'gone' | MailFailure

/**
 * Sends stored mails. A worker that dies between the mail server's acceptance and its record sends the mail again with the same
 * Message-ID, because SMTP cannot report whether a mail was accepted.
 */
export function createSendMailActivities({ mails, mailer, cipher, clock, metrics }: Context) {
  async function trySend(mail: Mail): Promise<MailFailure | null> {
    const leftMs = mail.expiresAt.getTime() - clock.now().getTime()
    if (leftMs <= 0) return 'EXPIRED'
    if (mail.sealed === null) return 'UNREADABLE'
    // A key that is missing may come back before the mail expires.
    const content = openMail(cipher, mail._id, mail.sealed)
    const { to, ...body } = content
    if (to === null) return 'NO_RECIPIENT'
    const signal = AbortSignal.any([AbortSignal.timeout(leftMs), cancellationSignal()])
    try {
      await mailer.send({ id: mail._id, to, ...body }, { signal })
      return null
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      log.warn('mail not accepted', { mailId: mail._id, kind: mail.kind, reason: error.message })
      if (error.isFinal) return 'REFUSED'
      metrics.mailAttempted('later')
      // The cause names the address, and the workflow's history would store it.
      throw ApplicationFailure.create({ type: 'MailServer', message: error.message })
    }
  }

  return {
    async sendMail(mailId: string): Promise<SendMailResult> {
      const mail = await mails.lease(mailId, new Date(clock.now().getTime() + LEASE_MS))
      if (!mail) return 'gone'
      const isAccepted = activityInfo().heartbeatDetails === ACCEPTED
      const failure = isAccepted ? null : await trySend(mail)
      if (failure === null) heartbeat(ACCEPTED)
      await mails.end(mailId, failure, clock.now())
      metrics.mailAttempted(failure ?? 'sent')
      return failure ?? 'sent'
    },
  }
}
