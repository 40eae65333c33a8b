import type { MailBody } from '../../domain/notifications/mails.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'

/** What a mail must not show where it is stored. */
export interface MailContent extends MailBody {
  /** Null for a mail that goes nowhere. */
  to: string | null
}

/** Opens again for this mail only. */
export function sealMail(cipher: TokenCipher, mailId: string, content: MailContent): string {
  return cipher.seal(JSON.stringify(content), contextOf(mailId))
}

/** @throws SecretUnreadableError */
export function openMail(cipher: TokenCipher, mailId: string, sealed: string): MailContent {
  return JSON.parse(cipher.open(sealed, contextOf(mailId))) as MailContent
}

function contextOf(id: string) {
  return { collection: 'mails', id, field: 'sealed' }
}
