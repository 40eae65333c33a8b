import type { CommandContext } from '../context.ts'

interface RequestedMail {
  kind: 'otp' | 'resetMail'
  /** Normalized, as stored. */
  email: string
  /** The network of the client; see `toNetwork`. */
  sender: string
}

/**
 * Limits the mails that one sender can request, per address and in total. Requests of others do not count against a sender, so
 * no stranger can keep the owner of an address from getting mail.
 * @returns whether to send a mail; false when the address got many within the hour and one in the last three minutes
 */
export async function takeMailAllowance(
  { limits }: CommandContext,
  { kind, email, sender }: RequestedMail,
): Promise<boolean> {
  await limits[kind].take(email, sender)
  await limits.mailsOfSender.take(sender)
  return (await limits.mailsToAddress.tryTake(email)) || (await limits.furtherMails.tryTake(email))
}
