import type { Context } from '../../context.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { AuthorizedAccount, DirectConnect } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { ConnectedAccount } from '../../store/accounts/platform-accounts.ts'
import { platformTrouble } from './platform-trouble.ts'
import { storeConnection, type StoreConnectionDeps } from './store-connection.ts'

interface ConnectBlueskyDeps extends StoreConnectionDeps {
  limits: Pick<Context['limits'], 'blueskyGuess' | 'blueskyUser' | 'blueskyIdentifier'>
  platforms: StoreConnectionDeps['platforms'] & { direct(platform: 'bluesky'): DirectConnect | null }
}

interface ConnectBluesky {
  userId: string
  /** Handle, with or without a leading `@`, or e-mail address. */
  identifier: string
  appPassword: string
}

const LOGIN_TIMEOUT_MS = 10 * SECOND

/**
 * Logs in at Bluesky and stores the session. A connection the user had before is replaced, its session ended.
 * @throws ServiceError PLATFORM_CREDENTIALS_INVALID, PLATFORM_UNAVAILABLE, or ACCOUNT_ALREADY_CONNECTED when the Bluesky account is
 *   another user's here, RATE_LIMITED before the platform is asked: the service is no place to guess its passwords
 */
export async function connectBluesky(deps: ConnectBlueskyDeps, input: ConnectBluesky): Promise<ConnectedAccount> {
  const giveBack = await takeGuess(deps, input)
  let connection: AuthorizedAccount
  try {
    connection = await logIn(deps.platforms.direct('bluesky'), input)
  } catch (error) {
    const isWrongGuess = error instanceof ServiceError && error.code === 'PLATFORM_CREDENTIALS_INVALID'
    if (!isWrongGuess) await giveBack()
    throw error
  }
  await giveBack()
  return await storeConnection(deps, input.userId, 'bluesky', connection)
}

/**
 * Counts a failed login before the platform is asked, so that parallel guesses cannot slip past.
 * @returns takes the count back, for a login that did not fail by its credentials
 */
async function takeGuess({ limits }: ConnectBlueskyDeps, { userId, identifier }: ConnectBluesky) {
  const account = identifier.trim().replace(/^@/, '').toLowerCase()
  const steps = [
    {
      take: () => limits.blueskyGuess.take(userId, account),
      undo: () => limits.blueskyGuess.giveBack(userId, account),
    },
    { take: () => limits.blueskyUser.take(userId), undo: () => limits.blueskyUser.giveBack(userId) },
    { take: () => limits.blueskyIdentifier.take(account), undo: () => limits.blueskyIdentifier.giveBack(account) },
  ]
  const taken: typeof steps = []
  const giveBack = async () => void (await Promise.all(taken.map(({ undo }) => undo())))
  for (const step of steps) {
    try {
      await step.take()
    } catch (error) {
      await giveBack()
      throw error
    }
    taken.push(step)
  }
  return giveBack
}

async function logIn(
  direct: DirectConnect | null,
  { identifier, appPassword }: ConnectBluesky,
): Promise<AuthorizedAccount> {
  if (!direct) throw new ServiceError('PLATFORM_UNAVAILABLE', `${platformLabel('bluesky')} is not available here`)
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS)
  try {
    return await direct.connect(identifier, appPassword, { signal })
  } catch (error) {
    throw refusal(error) ?? platformTrouble('bluesky', error, signal)
  }
}

/** A refusal is 400, never 401: clients take 401 as their own logout (contract section 1). */
function refusal(cause: unknown): ServiceError | null {
  if (!(cause instanceof PlatformError)) return null
  switch (cause.class) {
    case 'unauthorized':
    case 'validation':
      return new ServiceError('PLATFORM_CREDENTIALS_INVALID', 'Invalid Bluesky credentials', { cause })
    case 'permission':
    case 'blocked_by_platform':
      return new ServiceError('PLATFORM_CREDENTIALS_INVALID', cause.message, { cause })
    default:
      return null
  }
}
