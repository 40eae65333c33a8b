import { findNameProblems, normalizeName } from '../../domain/shared/names.ts'
import { findPasswordProblems } from '../../domain/users/new-passwords.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { normalizeEmail, type User } from '../../domain/users/user.ts'
import { newId } from '../../store/shared/schema.ts'
import { createUser } from './create-user.ts'
import { openSession, type Client, type SessionTokens } from './open-session.ts'
import type { DataUrl } from '../../integrations/large-texts/data-url.ts'
import type { CommandContext, SessionContext } from '../context.ts'

interface SignUp extends Client {
  email: string
  name: string
  password: string
  confirmPassword?: string
  /** A data URL. */
  avatar?: string | null
  timezone?: string
  /** The request's proofs of its address; any of them may be the valid one. */
  verificationTokens: string[]
}

/**
 * Creates an account for an address and logs in. The caller must present the proof that `verifyCode` issued for this address,
 * which is consumed. Without it the response does not depend on whether the address has an account.
 * @throws ServiceError VALIDATION_FAILED, ADDRESS_NOT_VERIFIED, ADDRESS_TAKEN
 */
export async function signUp(deps: SessionContext, input: SignUp): Promise<SessionTokens & { user: User }> {
  const [picture = null] = input.avatar ? await deps.largeTexts.readDataUrls([input.avatar]) : []
  const problems = [...findProblems(input), ...(await findAvatarProblems(deps, input, picture))]
  if (problems.length > 0) throw validationFailed(problems)
  const { addressCodes, config, database, oneTimeCodes, planLimits, users } = deps
  const email = normalizeEmail(input.email)
  const addressKey = oneTimeCodes.addressKey(email)
  const needsProof = config.SIGNUP_EMAIL_VERIFICATION === 'on'
  const proofHashes = input.verificationTokens.map(oneTimeCodes.hashProof)
  // Checked before hashing, because hashing is expensive.
  if (needsProof && !(await addressCodes.isProven(addressKey, proofHashes))) throw notVerified()

  const store = (user: User) =>
    database.transaction(async (session) => {
      if (needsProof && !(await addressCodes.useProof(addressKey, proofHashes, session))) throw notVerified()
      await users.insert(user, session)
    })
  const userId = newId()
  const account = {
    _id: userId,
    email,
    name: normalizeName(input.name),
    password: input.password,
    limits: planLimits.free,
    ...(input.timezone !== undefined && { timezone: input.timezone }),
    ...(await storeAvatar(deps, userId, picture)),
  }
  const user = await createUser(deps, account, store)
  return { user, ...(await openSession(deps, user, input)) }
}

function findProblems({ name, password, confirmPassword }: SignUp): Problem[] {
  const problems = [...findPasswordProblems(password), ...findNameProblems(name)]
  if (confirmPassword !== undefined && confirmPassword !== password) {
    problems.push({
      path: 'confirmPassword',
      code: 'DIFFERS',
      message: 'The passwords differ. Enter the same one twice.',
    })
  }
  return problems
}

async function findAvatarProblems(
  { avatars }: SessionContext,
  { avatar }: SignUp,
  picture: DataUrl | null,
): Promise<Problem[]> {
  if (!avatar) return []
  const message = picture ? await avatars.findPictureProblem(picture) : 'must be a data URL in base64'
  if (message === null) return []
  return [{ path: 'avatar', code: 'AVATAR_NOT_ALLOWED', message: `The picture ${message}. Choose another one.` }]
}

/**
 * Returns the key of the address that a request has proven besides its body; null when it has proven none. The result decides
 * how much of the body is read.
 */
export async function findProvenAddress(
  { addressCodes, config, oneTimeCodes }: CommandContext,
  verificationTokens: string[],
): Promise<string | null> {
  if (config.SIGNUP_EMAIL_VERIFICATION === 'off' || verificationTokens.length === 0) return null
  return addressCodes.findProven(verificationTokens.map(oneTimeCodes.hashProof))
}

/** Stores the avatar. When object storage fails, the account starts with the default picture instead of failing. */
async function storeAvatar({ avatars, logger }: SessionContext, userId: string, picture: DataUrl | null) {
  if (!picture) return {}
  try {
    return { avatar: await avatars.store(userId, picture) }
  } catch (error) {
    logger.warn({ err: error, userId }, 'new avatar not stored')
    return {}
  }
}

function notVerified(): ServiceError {
  return new ServiceError('ADDRESS_NOT_VERIFIED', 'Verify this address with a code first')
}
