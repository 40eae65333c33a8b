import { platformLabel } from '../domain/platforms.ts'
import { ServiceError } from '../domain/service-error.ts'
import { SECOND } from '../domain/times.ts'
import type { Connection, DirectConnect } from '../platforms/adapter.ts'
import { PlatformError } from '../platforms/errors.ts'
import type { ConnectedAccount } from '../store/platform-accounts.ts'
import { platformTrouble } from './platform-trouble.ts'
import { storeConnection, type StoreConnectionDeps } from './store-connection.ts'

interface ConnectBlueskyDeps extends StoreConnectionDeps {
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
 *   another user's here
 */
export async function connectBluesky(deps: ConnectBlueskyDeps, input: ConnectBluesky): Promise<ConnectedAccount> {
  const connection = await logIn(deps.platforms.direct('bluesky'), input)
  return await storeConnection(deps, input.userId, 'bluesky', connection)
}

async function logIn(direct: DirectConnect | null, { identifier, appPassword }: ConnectBluesky): Promise<Connection> {
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
