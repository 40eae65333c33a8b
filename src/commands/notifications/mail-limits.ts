import type { RateLimit } from '../../store/shared/rate-limits.ts'

export interface MailLimitDeps {
  limits: Record<'otp' | 'resetMail' | 'mailsOfSender', Pick<RateLimit, 'take'>> &
    Record<'mailsToAddress' | 'furtherMails', Pick<RateLimit, 'tryTake'>>
}

interface RequestedMail {
  kind: 'otp' | 'resetMail'
  /** As it is stored. */
  email: string
  /** The network of the client; see `toNetwork`. */
  sender: string
}

/**
 * Limits how many mails a sender can have sent to one address, and to all. What others ask for does not count against a sender, so
 * nobody can keep the owner of an address from getting mail.
 * @returns whether to send one. False means: the address got many within the hour, and one in the last three minutes that will do
 * @throws ServiceError RATE_LIMITED
 */
export async function takeMailAllowance(
  { limits }: MailLimitDeps,
  { kind, email, sender }: RequestedMail,
): Promise<boolean> {
  await limits[kind].take(email, sender)
  await limits.mailsOfSender.take(sender)
  return (await limits.mailsToAddress.tryTake(email)) || (await limits.furtherMails.tryTake(email))
}
