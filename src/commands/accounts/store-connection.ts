import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { AuthorizedAccount, RedirectResult } from '../../platforms/contract.ts'
import type { ConnectedAccount, Seal } from '../../store/accounts/accounts.ts'
import { ignoreNotFound } from '../../store/posts/post-not-found.ts'
import { toConnectionId } from '../../workflows/contract/analytics.ts'
import { reconcileNow } from '../../domain/posts/delivery-moves.ts'
import { notifyWorkflow } from '../shared/notify-workflow.ts'
import { endUnusedSession, openSecretsIfReadable, sealSecrets } from './account-secrets.ts'
import type { CommandContext } from '../context.ts'

/** What a user connects. */
export interface ConnectingUser {
  userId: string
  /** Whether a new account takes the place of the platform's default account, or else is added. */
  replace: boolean
}

/**
 * Stores accounts that the user has just proven to own, all of them or none. A connected account gets its new login. Sessions of earlier
 * logins are ended, and posts prepared with them are prepared again. Follower counts are collected in the background.
 * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when another user here has an account, ACCOUNT_LIMIT_REACHED; the new sessions are ended then
 */
export async function storeConnection(
  deps: CommandContext,
  user: ConnectingUser,
  platform: Platform,
  connection: RedirectResult,
): Promise<ConnectedAccount> {
  const { posts, users, cipher } = deps
  const { userId } = user
  const { accounts, replaced } = await connect(deps, user, { platform, ...connection })
  await users.raiseAnalyticsVersion(userId)
  startFollowerCounts(deps, accounts)
  await reconcilePosts(deps, userId, accounts)
  const [account] = accounts as [ConnectedAccount]
  if (replaced.length === 0) return account
  await posts.invalidatePrepared(userId)
  for (const before of replaced) {
    const unused = openSecretsIfReadable(cipher, before)
    if (unused) await endUnusedSession(deps, before.platform, unused)
  }
  return account
}

/** Searches for posts whose outcome could not be determined without a login. */
async function reconcilePosts(deps: CommandContext, userId: string, accounts: ConnectedAccount[]): Promise<void> {
  const ids = accounts.map(({ _id }) => _id)
  for (const found of await deps.posts.listInDoubt(userId, ids)) {
    const post = await ignoreNotFound(deps.posts.transition(found, reconcileNow(ids)))
    if (post?.startPending) await notifyWorkflow(deps, post, 'changed')
  }
}

/** Starts the first follower counts without waiting. It cannot fail: the daily run counts when Temporal does not answer. */
function startFollowerCounts({ orchestrator, platforms }: CommandContext, accounts: ConnectedAccount[]): void {
  for (const account of accounts) {
    const { userId, platform } = account
    if (!platforms.find(platform)?.followers) continue
    const summary = `Followers of a new connection to ${platformLabel(platform)}`
    const connectionId = toConnectionId(account)
    void orchestrator.startWork('collectFollowers', connectionId, { summary, fairnessKey: userId })
  }
}

async function connect(
  deps: CommandContext,
  { userId, replace }: ConnectingUser,
  login: RedirectResult & { platform: Platform },
) {
  const { accounts, cipher, findAccountLimit } = deps
  const { platform, companions = {}, ...connection } = login
  const others = Object.entries(companions) as [Platform, AuthorizedAccount | null][]
  const seals = others.map(([one, companion]) => [one, companion && sealFor(cipher, userId, one, companion)] as const)
  const sealed = {
    platform,
    seal: sealFor(cipher, userId, platform, connection),
    companions: Object.fromEntries(seals),
  }
  try {
    return await accounts.connect(userId, sealed, { replace, limit: await findAccountLimit(userId) })
  } catch (error) {
    for (const [one, unused] of [[platform, connection] as const, ...others]) {
      if (unused) await endUnusedSession(deps, one, { ...unused.credentials, version: 0 })
    }
    throw error
  }
}

function sealFor(
  cipher: TokenCipher,
  userId: string,
  platform: Platform,
  { credentials, profile, problem = null }: AuthorizedAccount,
): Seal {
  const { accountId: platformId, handle, serviceUrl: server = null } = credentials
  return (version) => ({
    platformId,
    server,
    handle,
    profile,
    problem,
    auth: sealSecrets(cipher, { userId, platform, version }, credentials),
  })
}
