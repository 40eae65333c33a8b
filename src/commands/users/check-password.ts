import { toNetwork } from '../../domain/shared/client-address.ts'
import { normalizePassword } from '../../domain/users/passwords.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import type { CommandContext } from '../context.ts'

interface Guess {
  /** As typed by the caller. */
  email: string
  password: string
  ipAddress: string
  /** The requesting session, or the cookie that proves an earlier login of the device. */
  from: { sessionId: string } | { deviceCookie: string | undefined }
}

/** Replaces the user id for an address without an account, so that both cases take the same steps. */
const NO_USER = ''

/**
 * Returns whether the password is the user's; `user` is null for an address without an account. Every place that takes a
 * password calls this, so that a stolen session cannot guess it either. A wrong one counts as a failed login.
 * @throws ServiceError RATE_LIMITED
 */
export async function checkPassword(deps: CommandContext, user: User | null, guess: Guess): Promise<boolean> {
  const { loginEvents, loginThrottle, passwords } = deps
  const attempt = { email: guess.email, ipAddress: guess.ipAddress, ...(await recognizeDevice(deps, user, guess)) }
  const fairnessKey = toNetwork(guess.ipAddress)
  const verify = async () =>
    (await passwords.verify(user?.passwordHash ?? null, normalizePassword(guess.password), fairnessKey)) ? true : null
  try {
    if (await loginThrottle.attempt(attempt, verify)) return true
    loginEvents.failed(guess, user ? 'wrong_password' : 'unknown_address')
    return false
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') loginEvents.failed(guess, 'throttled')
    throw error
  }
}

/** Finds the device: a session or a cookie proves an earlier login. Clients without cookies are recognized by their network. */
async function recognizeDevice({ clock, knownDevices, sessions }: CommandContext, user: User | null, guess: Guess) {
  const userId = user?._id ?? NO_USER
  const now = clock.now()
  const { from } = guess
  const device = 'sessionId' in from ? from.sessionId : knownDevices.find(from.deviceCookie, userId, now)
  if (device !== null) return { device, isKnownNetwork: true }
  const network = toNetwork(guess.ipAddress)
  const addresses = await sessions.listAddresses(userId, now)
  return { device, isKnownNetwork: addresses.some((address) => toNetwork(address) === network) }
}
