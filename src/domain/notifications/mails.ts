import { DAY, MINUTE } from '../shared/times.ts'

/** What mails are about. `nothing` goes nowhere: it stands where an address that nobody has would get one, and takes as long. */
export const MAIL_KINDS = ['code', 'addressKnown', 'reset', 'resetElsewhere', 'nothing'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

/** For operators, in the Temporal UI. */
export const MAIL_SUMMARY = 'A mail to one person'

export const CODE_LIFE_MS = 5 * MINUTE
export const RESET_LIFE_MS = 10 * MINUTE
/** Of a mail that says nothing of an hour. */
export const MAIL_LIFE_MS = DAY

/** Why a mail was given up. */
export const MAIL_FAILURES = ['EXPIRED', 'REFUSED', 'NOBODY', 'UNREADABLE'] as const
export type MailFailure = (typeof MAIL_FAILURES)[number]

/** A mail as people read it, in both forms. */
export interface MailBody {
  subject: string
  text: string
  html: string
}

/** The mail server did not take a mail. `reason` names no address and no word of the mail. */
export class MailError extends Error {
  /** Refused for good, as against a server that may take it later. */
  readonly isFinal: boolean
  constructor(reason: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(reason, { cause })
    this.name = 'MailError'
    this.isFinal = isFinal
  }
}
