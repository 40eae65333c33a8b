import { DAY, MINUTE } from '../shared/times.ts'

/** Kinds of mails. `nothing` is never sent: it takes the place of a mail to an unknown address, so that both take equally long. */
export const MAIL_KINDS = ['code', 'addressKnown', 'reset', 'resetElsewhere', 'notification', 'nothing'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

/** Summary for operators in the Temporal UI. */
export const MAIL_SUMMARY = 'A mail to one person'

export const CODE_LIFE_MS = 5 * MINUTE
export const RESET_LIFE_MS = 10 * MINUTE
/** Lifetime of a mail whose text states none. */
export const MAIL_LIFE_MS = DAY

/** Reasons why a mail was abandoned. */
export const MAIL_FAILURES = ['EXPIRED', 'REFUSED', 'NO_RECIPIENT', 'UNREADABLE'] as const
export type MailFailure = (typeof MAIL_FAILURES)[number]

/** Subject and text of a mail, in both formats. */
export interface MailBody {
  subject: string
  text: string
  html: string
}

/** Thrown when the mail server does not accept a mail. `reason` contains neither the address nor the mail's text. */
export class MailError extends Error {
  /** True for a permanent refusal; false when the server may accept the mail later. */
  readonly isFinal: boolean
  constructor(reason: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(reason, { cause })
    this.name = 'MailError'
    this.isFinal = isFinal
  }
}
