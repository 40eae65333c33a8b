import { toNetwork } from '../../domain/shared/client-address.ts'
import { resetElsewhereMail, resetMail } from '../../domain/notifications/mail-texts.ts'
import { MAIL_LIFE_MS, RESET_LIFE_MS } from '../../domain/notifications/mails.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import { takeMailAllowance } from '../notifications/mail-limits.ts'
import { queueMail } from '../notifications/queue-mail.ts'
import { hashSecret, newSecret } from '../../security/random.ts'
import { constantTimeDelay } from './constant-time-delay.ts'
import type { CommandContext } from '../context.ts'

/**
 * Sends a password-reset link. An address without an account takes the same steps, for a mail without a recipient, so neither
 * the response nor its time reveals the account.
 * @throws ServiceError RATE_LIMITED
 */
export async function requestReset(deps: CommandContext, input: { email: string; ipAddress: string }): Promise<void> {
  const { users, oneTimeCodes, passwordResets, config, clock } = deps
  const begin = clock.now()
  const email = normalizeEmail(input.email)
  if (!(await takeMailAllowance(deps, { kind: 'resetMail', email, sender: toNetwork(input.ipAddress) }))) {
    await constantTimeDelay(clock, begin)
    return
  }
  const user = await users.findByEmail(email)
  const userId = user?._id ?? null
  const hasPassword = user?.auth.provider === 'email'
  const token = newSecret()
  await passwordResets.add(oneTimeCodes.addressKey(email), hasPassword ? userId : null, {
    hash: hashSecret(token),
    expiresAt: new Date(clock.now().getTime() + RESET_LIFE_MS),
  })
  const resetText = resetMail({ frontendUrl: config.FRONTEND_URL, email, token })
  await queueMail(deps, {
    userId,
    // Sent to the address of the account, not to the one that was typed.
    to: user?.email ?? null,
    ...(user && !hasPassword
      ? { kind: 'resetElsewhere', lifeMs: MAIL_LIFE_MS, ...resetElsewhereMail(config.FRONTEND_URL) }
      : { kind: user ? 'reset' : 'nothing', lifeMs: RESET_LIFE_MS, ...resetText }),
  })
  await constantTimeDelay(clock, begin)
}
