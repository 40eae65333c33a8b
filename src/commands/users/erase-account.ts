import type { ErasureStore } from '../../store/users/erasures.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import { checkPassword } from './check-password.ts'
import type { CommandContext } from '../context.ts'

/** Users without a password confirm the erasure by a login at most this old. */
const FRESH_LOGIN_MS = 10 * MINUTE
const SUMMARY = 'Erase an account'

interface EraseAccount {
  userId: string
  sessionId: string
  password: string | undefined
  ipAddress: string
}

/**
 * Erases an account. When this resolves, the account is closed: no session, no login, and no new delivery. A workflow removes
 * the data; the sweeper starts it when Temporal does not answer.
 * @throws ServiceError VALIDATION_FAILED without a password, INCORRECT_PASSWORD, RATE_LIMITED, FRESH_LOGIN_REQUIRED
 */
export async function eraseAccount(deps: CommandContext, request: EraseAccount): Promise<void> {
  const { userId } = request
  const user = await deps.users.findById(userId)
  if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  await assertSelf(deps, user, request)
  await deps.database.transaction(async (session) => {
    await deps.erasures.begin(userId, deps.clock.now(), session)
    await deps.users.disable(userId, session)
  })
  // Armed deliveries check their owner again and find the account disabled.
  await Promise.all([deps.sessions.removeAll(userId), deps.posts.invalidatePrepared(userId)])
  await deps.orchestrator.startWork('eraseAccount', userId, { summary: SUMMARY, fairnessKey: userId })
}

async function assertSelf(deps: CommandContext, user: User, request: EraseAccount): Promise<void> {
  if (user.auth.provider !== 'email') return assertFreshLogin(deps, request)
  const { password, ipAddress, sessionId } = request
  if (password === undefined) {
    const message = 'The password is missing. Enter the password of this account.'
    throw validationFailed([{ path: 'password', code: 'REQUIRED', message }])
  }
  if (!(await checkPassword(deps, user, { email: user.email, password, ipAddress, from: { sessionId } }))) {
    throw new ServiceError('INCORRECT_PASSWORD', 'Incorrect current password')
  }
}

async function assertFreshLogin({ sessions, clock }: CommandContext, { sessionId }: EraseAccount): Promise<void> {
  const session = await sessions.find(sessionId)
  if (session && clock.now().getTime() - session.createdAt.getTime() <= FRESH_LOGIN_MS) return
  throw new ServiceError('FRESH_LOGIN_REQUIRED', 'Log in again, then erase the account within ten minutes')
}

/** Erasures without a running workflow, for the sweeper. */
export function erasureBacklog({ erasures }: { erasures: ErasureStore }) {
  return {
    work: 'eraseAccount' as const,
    summary: SUMMARY,
    async listUnstarted(before: Date, limit: number) {
      const unleased = await erasures.listUnleased(before, limit)
      return unleased.map(({ _id }) => ({ id: _id, userId: _id }))
    },
  }
}
