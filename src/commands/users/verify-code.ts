import { toNetwork } from '../../domain/shared/client-address.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import type { CommandContext } from '../context.ts'

const PROOF_LIFE_MS = 15 * MINUTE

interface CodeGuess {
  email: string
  otp: string
  ipAddress: string
}

export interface VerifiedAddress {
  /** Normalized, as stored. */
  email: string
  /** Proves at sign-up that the caller read the code; valid once, for this address, until `expiresAt`. */
  verificationToken: string
  expiresAt: Date
}

/**
 * Exchanges a mailed one-time code for a proof that the caller reads mail of this address.
 * @throws ServiceError OTP_INVALID for a wrong code, an expired code, and an address without a code alike
 */
export async function verifyCode(deps: CommandContext, { email, otp, ipAddress }: CodeGuess): Promise<VerifiedAddress> {
  const { oneTimeCodes, addressCodes, clock } = deps
  const address = normalizeEmail(email)
  const verificationToken = oneTimeCodes.makeProof()
  const expiresAt = new Date(clock.now().getTime() + PROOF_LIFE_MS)
  const guess = { codeHash: oneTimeCodes.hash(address, otp.trim()), sender: toNetwork(ipAddress) }
  const isRight = await addressCodes.verify(oneTimeCodes.addressKey(address), guess, {
    proofHash: oneTimeCodes.hashProof(verificationToken),
    verifiedUntil: expiresAt,
  })
  if (!isRight) throw new ServiceError('OTP_INVALID', 'Invalid or expired code')
  return { email: address, verificationToken, expiresAt }
}
