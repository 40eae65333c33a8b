import type { MailBody } from '../../domain/notifications/mails.ts'
import { mailSecret } from '../../domain/shared/secrets.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'

/** The parts of a mail that are stored encrypted. */
export interface MailContent extends MailBody {
  /** Null for a mail without a recipient. */
  to: string | null
}

/** Seals the content; it opens only for this mail. */
export function sealMail(cipher: TokenCipher, mailId: string, content: MailContent): string {
  return cipher.seal(JSON.stringify(content), mailSecret({ _id: mailId }))
}

/** @throws SecretUnreadableError */
export function openMail(cipher: TokenCipher, mailId: string, sealed: string): MailContent {
  return JSON.parse(cipher.open(sealed, mailSecret({ _id: mailId }))) as MailContent
}
