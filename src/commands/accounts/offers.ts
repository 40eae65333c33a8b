import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { connectAttemptSecret } from '../../domain/shared/secrets.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { OfferedAccount, RedirectResult } from '../../platforms/contract.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import type { ConnectAttempt } from '../../store/accounts/connect-attempts.ts'
import { openAttemptSecrets, sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { mapPlatformError } from './map-platform-error.ts'
import { storeConnection } from './store-connection.ts'
import type { CommandContext } from '../context.ts'

/** The accounts of a login among which its user may choose. */
export interface Offer {
  platform: Platform
  accounts: (Pick<OfferedAccount, 'accountId' | 'profile' | 'problem'> & { isConnected: boolean })[]
}

const OPEN_TIMEOUT_MS = 20 * SECOND

/**
 * Keeps what a login offers for ten minutes, encrypted.
 * @returns the id of the offer; null when the login is for one account
 */
export async function saveOffer(
  { connectAttempts, cipher, clock }: CommandContext,
  attempt: ConnectAttempt,
  offered: readonly OfferedAccount[],
): Promise<string | null> {
  if (offered.length < 2) return null
  const sealed = sealAttemptSecrets(cipher, connectAttemptSecret(attempt), { offered: JSON.stringify(offered) })
  await connectAttempts.saveOffer(attempt, sealed, new Date(clock.now().getTime() + REDIRECT_LIFETIME_MS))
  return attempt._id
}

/** @throws ServiceError NOT_FOUND, also when the offer has expired */
export async function findOffer(deps: CommandContext, userId: string, offerId: string): Promise<Offer> {
  const { platform, offered } = await readOffer(deps, userId, offerId)
  const connected = (await deps.accounts.listConnected(userId)).filter((one) => one.platform === platform)
  const accounts = offered.map(({ accountId, profile, problem }) => ({
    accountId,
    profile,
    problem,
    isConnected: connected.some(({ platformId }) => platformId === accountId),
  }))
  return { platform, accounts }
}

interface ChosenOffers {
  offerId: string
  /** Ids on the platform. */
  accountIds: readonly string[]
  /** Whether the first one takes the place of the default account. */
  replace: boolean
}

/**
 * Connects accounts of an offer, one after the other; a connected one gets the new login. Can be repeated while the offer lasts.
 * @throws ServiceError NOT_FOUND; VALIDATION_FAILED for an account that was not offered or is unusable; ACCOUNT_ALREADY_CONNECTED, ACCOUNT_LIMIT_REACHED,
 * RECONNECT_REQUIRED, PLATFORM_UNAVAILABLE: the accounts before it are connected then
 */
export async function connectOffered(
  deps: CommandContext,
  userId: string,
  { offerId, accountIds, replace }: ChosenOffers,
): Promise<ConnectedAccount[]> {
  const { platform, offered } = await readOffer(deps, userId, offerId)
  const chosen = accountIds.map((id, index) => {
    const found = offered.find(({ accountId }) => accountId === id)
    if (found?.problem === null) return found
    const path = `platformIds.${index}`
    throw validationFailed([
      found
        ? { path, code: 'ACCOUNT_UNUSABLE', message: found.problem }
        : { path, code: 'ACCOUNT_NOT_FOUND', message: `The login does not offer the account ${id}` },
    ])
  })
  const accounts: ConnectedAccount[] = []
  const signal = AbortSignal.timeout(OPEN_TIMEOUT_MS)
  for (const [index, one] of chosen.entries()) {
    const connection = await open(deps, platform, one, signal)
    accounts.push(await storeConnection(deps, { userId, replace: replace && index === 0 }, platform, connection))
  }
  return accounts
}

async function open(
  { platforms }: CommandContext,
  platform: Platform,
  { secrets }: OfferedAccount,
  signal: AbortSignal,
): Promise<RedirectResult> {
  const redirect = platforms.redirect(platform)
  if (!redirect?.open) throw new ServiceError('PLATFORM_UNAVAILABLE', `${platformLabel(platform)} is not set up here`)
  try {
    return await redirect.open(secrets, { signal })
  } catch (error) {
    throw mapPlatformError(platform, error, signal)
  }
}

async function readOffer({ connectAttempts, cipher, clock }: CommandContext, userId: string, offerId: string) {
  const attempt = await connectAttempts.findOffer(userId, offerId, clock.now())
  if (!attempt?.offer) throw new ServiceError('NOT_FOUND', 'The offer has expired. Connect the platform again.')
  const { offered = '[]' } = openAttemptSecrets(cipher, connectAttemptSecret(attempt), attempt.offer)
  return { platform: attempt.platform, offered: JSON.parse(offered) as OfferedAccount[] }
}
