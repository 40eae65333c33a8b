import { toNetwork } from '../../domain/shared/client-address.ts'
import { addressKnownMail, codeMail } from '../../domain/notifications/mail-texts.ts'
import { CODE_LIFE_MS, MAIL_LIFE_MS } from '../../domain/notifications/mails.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import { takeMailAllowance } from '../notifications/mail-limits.ts'
import { queueMail } from '../notifications/queue-mail.ts'
import { constantTimeDelay } from './constant-time-delay.ts'
import type { CommandContext } from '../context.ts'

/**
 * Sends a one-time code to an address that wants to register. An address with an account gets a mail that says so, after the
 * same steps, so neither the response nor its time reveals the account.
 * @throws ServiceError RATE_LIMITED
 */
export async function requestCode(
  deps: CommandContext,
  { email, ipAddress }: { email: string; ipAddress: string },
): Promise<void> {
  const { users, oneTimeCodes, addressCodes, config, clock } = deps
  const begin = clock.now()
  const to = normalizeEmail(email)
  const sender = toNetwork(ipAddress)
  const mayMail = await takeMailAllowance(deps, { kind: 'otp', email: to, sender })
  const user = await users.findByEmail(to)
  const addressKey = oneTimeCodes.addressKey(to)
  if (!mayMail && (await addressCodes.join(addressKey, sender))) {
    await constantTimeDelay(clock, begin)
    return
  }
  const code = oneTimeCodes.make()
  await addressCodes.put(addressKey, {
    sender,
    codeHash: user ? oneTimeCodes.unusableHash() : oneTimeCodes.hash(to, code),
    expiresAt: new Date(clock.now().getTime() + CODE_LIFE_MS),
  })
  await queueMail(
    deps,
    user
      ? { kind: 'addressKnown', userId: user._id, lifeMs: MAIL_LIFE_MS, to, ...addressKnownMail(config.FRONTEND_URL) }
      : { kind: 'code', userId: null, lifeMs: CODE_LIFE_MS, to, ...codeMail(code) },
  )
  await constantTimeDelay(clock, begin)
}
