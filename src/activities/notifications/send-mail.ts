import { activityInfo, ApplicationFailure, cancellationSignal, heartbeat, log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { openMail, type MailContent } from '../../commands/notifications/mail-secrets.ts'
import { MailError, type MailFailure } from '../../domain/notifications/mails.ts'
import { SecretUnreadableError } from '../../domain/shared/secrets.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Mailer } from '../../integrations/mail/mail.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { Mail, MailStore } from '../../store/notifications/mails.ts'

/** Longer than the longest way from one attempt to the next. */
const TENDED_MS = 3 * MINUTE
/** Remembered between attempts, for when recording it fails. */
const TAKEN = 'taken by the mail server'

export interface SendMailDeps {
  mails: Pick<MailStore, 'lease' | 'end'>
  mailer: Pick<Mailer, 'send'>
  cipher: TokenCipher
  clock: Clock
  metrics: Pick<Metrics, 'mailed'>
}

/** `gone`: it was sent or given up before. */
export type SendMailResult = 'sent' | 'gone' | MailFailure

/**
 * Sends stored mails. A worker that dies between the mail server's word and the record of it sends the mail again, under the same
 * Message-ID: SMTP has no way to ask what became of a mail.
 */
export function createSendMailActivities({ mails, mailer, cipher, clock, metrics }: SendMailDeps) {
  async function attempt(mail: Mail): Promise<MailFailure | null> {
    const leftMs = mail.worthUntil.getTime() - clock.now().getTime()
    if (leftMs <= 0) return 'EXPIRED'
    const content = contentOf(mail)
    if (!content) return 'UNREADABLE'
    const { to, ...words } = content
    if (to === null) return 'NOBODY'
    const signal = AbortSignal.any([AbortSignal.timeout(leftMs), cancellationSignal()])
    try {
      await mailer.send({ id: mail._id, to, ...words }, { signal })
      return null
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      log.warn('A mail was not taken', { mailId: mail._id, kind: mail.kind, reason: error.message })
      if (error.isFinal) return 'REFUSED'
      metrics.mailed('later')
      // Without its cause, which names the address: failures stand in the workflow's history.
      throw ApplicationFailure.create({ type: 'MailServer', message: error.message })
    }
  }

  function contentOf({ _id, sealed }: Mail): MailContent | null {
    try {
      return sealed === null ? null : openMail(cipher, _id, sealed)
    } catch (error) {
      if (error instanceof SecretUnreadableError) return null
      throw error
    }
  }

  return {
    async sendMail(mailId: string): Promise<SendMailResult> {
      const mail = await mails.lease(mailId, new Date(clock.now().getTime() + TENDED_MS))
      if (!mail) return 'gone'
      const isTaken = activityInfo().heartbeatDetails === TAKEN
      const failure = isTaken ? null : await attempt(mail)
      if (failure === null) heartbeat(TAKEN)
      await mails.end(mailId, failure, clock.now())
      metrics.mailed(failure ?? 'sent')
      return failure ?? 'sent'
    },
  }
}
