import { activityInfo, heartbeat, log } from '@temporalio/activity'
import type { Context } from '../../context.ts'
import { endSession, openSecretsIfReadable } from '../../commands/accounts/account-secrets.ts'
import { cancelPost } from '../../commands/posts/cancel-post.ts'
import { endPayments, hasPayments } from '../../commands/billing/end-payments.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { listUserFolders } from '../../domain/media/storage-keys.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { ConnectedAccount } from '../../store/accounts/platform-accounts.ts'
import { backgroundWorkflowId, publishPostWorkflowId } from '../../workflows/messages.ts'
import { waiting } from '../shared/heartbeat.ts'

/** Longer than an upload address, a login that was just being checked, or a call to a platform can be on its way. */
const LOOK_AGAIN_AFTER_MS = 20 * MINUTE
/** After that the sweeper takes it that its workflow was lost. */
const TENDED_MS = LOOK_AGAIN_AFTER_MS + HOUR
/** A call mostly ends long before it has to. */
const LOOK_EVERY_MS = 2 * SECOND
/** How often a platform that is away is asked to end a login before it is left to its own end. */
const REVOKE_TRIES = 5
const PAGE = 50
const AT_ONCE = 10

export type EraseAccountDeps = Pick<
  Context,
  | 'accounts'
  | 'addressCodes'
  | 'audit'
  | 'cipher'
  | 'clock'
  | 'connectAttempts'
  | 'database'
  | 'deadLetters'
  | 'discardPrepared'
  | 'erasures'
  | 'loginThrottle'
  | 'mails'
  | 'notifications'
  | 'oneTimeCodes'
  | 'orchestrator'
  | 'passwordResets'
  | 'paymentEvents'
  | 'payments'
  | 'platforms'
  | 'posts'
  | 'pushTokens'
  | 'rateLimits'
  | 'sessions'
  | 'snapshots'
  | 'storage'
  | 'uploads'
  | 'users'
>

/** What the workflow has to do, and when it has to do it again. */
interface ErasurePlan {
  steps: string[]
  lookAgainAt: number
}

/**
 * Removes what there is of a user. Every step may be killed anywhere and repeated, and finds what is left by the user's id alone, so
 * that the second round works when the record has gone.
 */
export function createEraseAccountActivities(deps: EraseAccountDeps) {
  const { accounts, clock, erasures, orchestrator, posts, storage, users } = deps

  /** The one list of what an account consists of, in the order in which it goes. */
  const steps: Record<string, (userId: string) => Promise<unknown>> = {
    'Cancel the posts that wait': cancelPosts,
    'Wait for the calls that are on their way': awaitCalls,
    'Remove the posts and their workflows': removePosts,
    'Remove media, copies and avatars': removeFiles,
    'End the platform logins': endConnections,
    // Without posts and logins nothing new comes.
    'Remove what was seen of posts and accounts': (userId) =>
      Promise.all([deps.snapshots.removeAllOf(userId), deps.deadLetters.removeAllOf(userId)]),
    'Remove notifications, and the devices they go to': (userId) =>
      Promise.all([deps.notifications.removeAllOf(userId), deps.pushTokens.removeAllOf(userId)]),
    'Remove mails, sessions, codes and limits': removeAccess,
    'Forget where the user came from': (userId) => deps.audit.forgetAddressesOf(userId),
    'End the subscription, and forget the customer': endSubscription,
    'Remove the user record': removeUser,
    // Nothing starts it again when there is no such user.
    'Remove the workflow of the subscription': (userId) =>
      orchestrator.forget([backgroundWorkflowId('subscription', userId)]),
  }

  async function cancelPosts(userId: string): Promise<void> {
    for (;;) {
      const waitingPosts = await posts.listWaiting(userId, PAGE)
      if (waitingPosts.length === 0) return
      await inTurns(waitingPosts, async (postId) => {
        const discards: Promise<void>[] = []
        const discardPrepared: typeof deps.discardPrepared = (...args) => {
          discards.push(deps.discardPrepared(...args))
          return discards[0]!
        }
        await unlessGone(cancelPost({ posts, orchestrator, discardPrepared }, userId, postId))
        await Promise.all(discards)
      })
    }
  }

  /** Whoever holds a lease may be at the platform: what that comes to is recorded on a post that is still there. */
  async function awaitCalls(userId: string): Promise<void> {
    const until = await posts.leasedUntil(userId)
    const left = (until?.getTime() ?? 0) - clock.now().getTime()
    if (left > 0) throw waiting('A call to a platform is on its way', Math.min(left, LOOK_EVERY_MS))
  }

  async function removePosts(userId: string): Promise<void> {
    for (;;) {
      const page = await posts.listSome(userId, PAGE)
      if (page.length === 0) return
      await inTurns(page.filter(mayHavePrepared), (post) => deps.discardPrepared(post, post.platformStatuses))
      const ids = page.map(({ _id }) => _id)
      // First: without the posts nobody knows their workflows any more.
      await orchestrator.forget(ids.map(publishPostWorkflowId))
      await posts.removeSome(userId, ids)
    }
  }

  async function removeFiles(userId: string): Promise<void> {
    for (const folder of listUserFolders(userId)) {
      for (;;) {
        const listed = await storage.list(folder, { after: null, limit: PAGE })
        if (listed.length === 0) break
        await inTurns(listed, ({ key }) => storage.remove(key))
      }
    }
    await deps.uploads.removeAllOf(userId)
  }

  /** A login is ended at the platform before it is forgotten here; one that cannot be ended is forgotten all the same. */
  async function endConnections(userId: string): Promise<void> {
    await deps.connectAttempts.removeAllOf(userId)
    const connected = await accounts.find(userId)
    let isOver = true
    for (const platform of PLATFORMS) {
      const account = connected?.[platform]
      if (!account?.connected) continue
      if (await isEnded(userId, platform, account)) await accounts.disconnect(userId, platform)
      else isOver = false
    }
    if (!isOver) throw new Error('A platform could not be told to end a login')
    await accounts.removeAllOf(userId)
  }

  async function isEnded(userId: string, platform: Platform, account: ConnectedAccount): Promise<boolean> {
    const adapter = deps.platforms.find(platform)
    const secrets = openSecretsIfReadable(deps.cipher, userId, platform, account)
    if (!secrets || !adapter?.revoke || (await endSession(adapter, secrets))) return true
    if (activityInfo().attempt < REVOKE_TRIES) return false
    log.warn('A platform login is left to its own end', { userId, platform })
    return true
  }

  async function removeAccess(userId: string): Promise<void> {
    // In the second round nobody knows the address any more, and what stands for it has gone or goes within the hour.
    const email = (await users.findById(userId))?.email
    await Promise.all([
      deps.mails.removeAllOf(userId),
      deps.sessions.removeAll(userId),
      deps.passwordResets.removeAllOf(userId),
      deps.paymentEvents.removeAllOf(userId),
      deps.rateLimits.forget(email === undefined ? [userId] : [userId, email]),
      email !== undefined && deps.loginThrottle.removeAllOf(email),
      email !== undefined && deps.addressCodes.remove(deps.oneTimeCodes.addressKey(email)),
    ])
  }

  /** Tried until it is done: the record alone tells of it. */
  async function endSubscription(userId: string): Promise<void> {
    const user = await users.findById(userId)
    if (!user || !hasPayments(user)) return
    if (deps.payments) return endPayments(deps.payments, user)
    log.error('A subscription is left to itself, since payments are not set up any more', { userId })
  }

  async function removeUser(userId: string): Promise<void> {
    await deps.database.transaction(async (session) => {
      await users.remove(userId, session)
      await erasures.markErased(userId, clock.now(), session)
    })
  }

  async function inTurns<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < items.length; first += AT_ONCE) {
      await Promise.all(items.slice(first, first + AT_ONCE).map(work))
      heartbeat()
    }
  }

  return {
    /** Null when there is nothing (left) to erase. */
    async beginErasure(userId: string): Promise<ErasurePlan | null> {
      const erasure = await erasures.tend(userId, new Date(clock.now().getTime() + TENDED_MS))
      return erasure && { steps: Object.keys(steps), lookAgainAt: erasure.requestedAt.getTime() + LOOK_AGAIN_AFTER_MS }
    },

    async runErasureStep(userId: string, step: string): Promise<void> {
      await steps[step]!(userId)
    },

    async closeErasure(userId: string): Promise<void> {
      await erasures.close(userId)
    },
  }
}

/** What was cancelled has been taken back already, and what was accepted is the platform's. */
function mayHavePrepared({ status }: Post): boolean {
  return status === 'PROCESSING' || status === 'FAILED' || status === 'PARTIAL_SUCCESS'
}

/** Claimed in the meantime, or removed by an earlier try. */
async function unlessGone(cancelling: Promise<unknown>): Promise<void> {
  try {
    await cancelling
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'NOT_FOUND')) throw error
  }
}
