import type { Transporter } from 'nodemailer'
import { MailError, type MailBody } from '../../domain/notifications/mails.ts'
import { SECOND } from '../../domain/shared/times.ts'

const CONNECT_TIMEOUT_MS = 5 * SECOND
const CONNECTIONS = 5

interface MailerOptions {
  /** `smtp://` or `smtps://`, with user and password; empty without a mail server. */
  url: string
  /** A name and an address, as in a mail's header. */
  from: string
  /** Limits in milliseconds on the server's silence and on sending a whole mail. */
  silenceMs?: number
  sendMs?: number
}

export interface OutgoingMail extends MailBody {
  /** Becomes the Message-ID, so that clients can detect a mail that was sent twice. */
  id: string
  to: string
}

/**
 * Sends mails over SMTP. Connects with the first mail.
 * @throws Error for a URL of another kind, without showing it
 */
export function createMailer({ url, from, silenceMs = 10 * SECOND, sendMs = 20 * SECOND }: MailerOptions) {
  if (url !== '' && !/^smtps?:\/\/./.test(url)) throw new Error('SMTP_URL must begin with smtp:// or smtps://')
  const host = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  let opened: Promise<Transporter> | undefined

  /** Loads the library with the first mail, because most processes send none. */
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      // The mail's workflow decides about retries.
      maxRequeues: 0,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      dnsTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  return {
    /** @throws MailError unless the mail server accepted the mail */
    async send({ id, to, ...body }: OutgoingMail, { signal }: { signal: AbortSignal }): Promise<void> {
      if (url === '') throw new MailError('SMTP_URL is not set', { isFinal: false })
      const transport = await (opened ??= open())
      try {
        await transport.sendMail({
          ...body,
          from,
          // An object, so that no part is parsed as a second address.
          to: { name: '', address: to },
          messageId: `<${id}@${host}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(sendMs)]),
        })
      } catch (error) {
        throw toMailError(error)
      }
    },

    /**
     * Connects and logs in without sending a mail.
     * @throws MailError within about 5 s
     */
    async check(): Promise<void> {
      const transport = await (opened ??= open())
      try {
        await transport.verify()
      } catch (error) {
        throw toMailError(error, 'did not accept the login')
      }
    },

    async close(): Promise<void> {
      const transport = await opened
      transport?.close()
    },
  }
}

interface SmtpError {
  code?: string
  command?: string
  responseCode?: number
  permanent?: boolean
}

/** Only a refusal of this recipient or content is permanent. A refused login or sender can be fixed while the mail waits. */
function toMailError(cause: unknown, what = 'did not accept the mail'): MailError {
  const { code = 'UNKNOWN', command, responseCode, permanent = false } = cause as SmtpError
  const isAboutMail = command === 'RCPT TO' || command === 'DATA' || command === 'API'
  const isUnusable = command === 'API' && code === 'EENVELOPE'
  const reason = [`The mail server ${what}:`, code, command, responseCode]
  return new MailError(reason.filter(Boolean).join(' '), { isFinal: (isAboutMail && permanent) || isUnusable, cause })
}
