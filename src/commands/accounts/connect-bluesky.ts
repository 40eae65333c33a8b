import { platformLabel } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { AuthorizedAccount, DirectConnect } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { mapPlatformError } from './map-platform-error.ts'
import { storeConnection, type ConnectingUser } from './store-connection.ts'
import type { CommandContext } from '../context.ts'

interface ConnectBluesky extends ConnectingUser {
  /** Handle, with or without a leading `@`, or email address. */
  identifier: string
  appPassword: string
}

const LOGIN_TIMEOUT_MS = 10 * SECOND

/**
 * Logs in at Bluesky and stores the session. Sessions of connections that it replaces are ended.
 * @throws ServiceError PLATFORM_CREDENTIALS_INVALID, PLATFORM_UNAVAILABLE; ACCOUNT_ALREADY_CONNECTED when another user here has
 * the Bluesky account; ACCOUNT_LIMIT_REACHED; RATE_LIMITED before the platform is called, so that the service cannot be used to guess passwords
 */
export async function connectBluesky(deps: CommandContext, input: ConnectBluesky): Promise<ConnectedAccount> {
  await deps.limits.connectStart.take(input.userId, 'bluesky')
  const refundGuess = await takeGuess(deps, input)
  let connection: AuthorizedAccount
  try {
    connection = await logIn(deps.platforms.direct('bluesky'), input)
  } catch (error) {
    const isWrongGuess = error instanceof ServiceError && error.code === 'PLATFORM_CREDENTIALS_INVALID'
    if (!isWrongGuess) await refundGuess()
    throw error
  }
  await refundGuess()
  return await storeConnection(deps, input, 'bluesky', connection)
}

/**
 * Counts a failed login before the platform is called, so that parallel guesses cannot exceed the limit.
 * @returns a function that refunds the count when the login did not fail because of its credentials
 */
async function takeGuess({ limits }: CommandContext, { userId, identifier }: ConnectBluesky) {
  const account = identifier.trim().replace(/^@/, '').toLowerCase()
  const steps = [
    {
      take: () => limits.blueskyGuess.take(userId, account),
      undo: () => limits.blueskyGuess.refund(userId, account),
    },
    { take: () => limits.blueskyUser.take(userId), undo: () => limits.blueskyUser.refund(userId) },
    { take: () => limits.blueskyIdentifier.take(account), undo: () => limits.blueskyIdentifier.refund(account) },
  ]
  const taken: typeof steps = []
  const refundGuess = async () => void (await Promise.all(taken.map(({ undo }) => undo())))
  for (const step of steps) {
    try {
      await step.take()
    } catch (error) {
      await refundGuess()
      throw error
    }
    taken.push(step)
  }
  return refundGuess
}

async function logIn(
  direct: DirectConnect | null,
  { identifier, appPassword }: ConnectBluesky,
): Promise<AuthorizedAccount> {
  if (!direct)
    throw new ServiceError('PLATFORM_UNAVAILABLE', `${platformLabel('bluesky')} is not configured on this server`)
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS)
  try {
    return await direct.connect(identifier, appPassword, { signal })
  } catch (error) {
    throw refusal(error) ?? mapPlatformError('bluesky', error, signal)
  }
}

/** A refusal becomes 400, never 401: clients treat 401 as the end of their own session. */
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
