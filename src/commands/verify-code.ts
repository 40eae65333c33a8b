import type { Context } from '../context.ts'
import { ServiceError } from '../domain/service-error.ts'
import { MINUTE } from '../domain/times.ts'
import { normalizeEmail } from '../domain/user.ts'

const VERIFIED_MS = 15 * MINUTE

type Deps = Pick<Context, 'oneTimeCodes' | 'addressCodes' | 'clock'>

/**
 * Takes the code that an address was sent for a proof that it is the caller's, which is remembered for a while.
 * @returns the address as it is stored
 * @throws ServiceError OTP_INVALID, alike for a wrong code, one that ended, and an address without
 */
export async function verifyCode(deps: Deps, { email, otp }: { email: string; otp: string }): Promise<string> {
  const { oneTimeCodes, addressCodes, clock } = deps
  const address = normalizeEmail(email)
  const verifiedUntil = new Date(clock.now().getTime() + VERIFIED_MS)
  const key = oneTimeCodes.addressKey(address)
  const isRight = await addressCodes.verify(key, oneTimeCodes.hash(address, otp.trim()), verifiedUntil)
  if (!isRight) throw new ServiceError('OTP_INVALID', 'Invalid or expired code')
  return address
}
