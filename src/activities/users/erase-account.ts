import { activityInfo, heartbeat, log } from '@temporalio/activity'
import type { Context } from '../../context.ts'
import { endSession, openSecretsIfReadable } from '../../commands/accounts/account-secrets.ts'
import { cancelPost } from '../../commands/posts/cancel-post.ts'
import { endPayments, hasPayments } from '../../commands/billing/end-payments.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { listUserFolders } from '../../domain/media/storage-keys.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { backgroundWorkflowId } from '../../workflows/contract/background-work.ts'
import { publishPostWorkflowId } from '../../workflows/contract/publishing.ts'
import { retryAfter } from '../shared/retry-after.ts'

/** Longer than an upload URL is valid, and longer than a login or a call to a platform can be in progress. */
const SECOND_ROUND_AFTER_MS = 20 * MINUTE
/** After this the sweeper treats the workflow as lost. */
const LEASE_MS = SECOND_ROUND_AFTER_MS + HOUR
/** A call mostly ends long before its lease. */
const CALL_CHECK_INTERVAL_MS = 2 * SECOND
/** After this many failed tries a login is not revoked, and expires by itself. */
const REVOKE_TRIES = 5
const PAGE = 50
const CONCURRENT_ITEMS = 10

/** The steps of an erasure, and the time of the second round in epoch milliseconds. */
interface ErasurePlan {
  steps: string[]
  repeatAt: number
}

/**
 * Erases a user and their data. Every step may be killed at any point and repeated. It finds the remaining data by the user id alone, so
 * that the second round works without the user record.
 */
export function createEraseAccountActivities(deps: Context) {
  const { accounts, clock, erasures, orchestrator, posts, storage, users } = deps

  /** All data of an account, in the order in which it is removed. Operators see the names in the Temporal UI. */
  const steps: Record<string, (userId: string) => Promise<unknown>> = {
    // An import would create further posts.
    'Remove the imports of posts': removeImports,
    'Cancel the waiting posts': cancelPosts,
    'Wait for calls to platforms that are in progress': awaitCalls,
    'Remove the posts and their workflows': removePosts,
    'Remove media, copies and avatars': removeFiles,
    'End the platform logins': endConnections,
    // Without posts and logins no new metrics are collected.
    'Remove the metrics of posts and accounts': (userId) =>
      Promise.all([deps.snapshots.removeAllOf(userId), deps.deadLetters.removeAllOf(userId)]),
    'Remove notifications, push devices and events': (userId) =>
      Promise.all([
        deps.notifications.removeAllOf(userId),
        deps.pushTokens.removeAllOf(userId),
        deps.events.removeAllOf(userId),
      ]),
    'Remove webhooks with their workflows': removeWebhooks,
    'Remove mails, sessions, codes and rate limits': removeAccess,
    "Redact the user's IP addresses in the audit log": (userId) => deps.audit.forgetAddressesOf(userId),
    'End the subscription and remove the customer': endSubscription,
    'Remove the user record': removeUser,
    // Without the user record nothing starts it again.
    'Remove the workflow of the subscription': (userId) =>
      orchestrator.deleteWorkflows([backgroundWorkflowId('subscription', userId)]),
  }

  async function removeImports(userId: string): Promise<void> {
    const imports = await deps.imports.listOf(userId)
    if (imports.length > 0) {
      await orchestrator.deleteWorkflows(imports.map(({ _id }) => backgroundWorkflowId('applyImport', _id)))
    }
    await deps.imports.removeAllOf(userId)
  }

  async function cancelPosts(userId: string): Promise<void> {
    for (;;) {
      const waitingPosts = await posts.listWaiting(userId, PAGE)
      if (waitingPosts.length === 0) return
      await forEachBatch(waitingPosts, async (postId) => {
        const discards: Promise<void>[] = []
        const discardPrepared: typeof deps.discardPrepared = (...args) => {
          discards.push(deps.discardPrepared(...args))
          return discards[0]!
        }
        await ignoreNotFound(cancelPost({ ...deps, discardPrepared }, { userId, postId }))
        await Promise.all(discards)
      })
    }
  }

  /** A leased delivery may be in a call. Its post has to exist until the outcome is recorded. */
  async function awaitCalls(userId: string): Promise<void> {
    const until = await posts.leasedUntil(userId)
    const left = (until?.getTime() ?? 0) - clock.now().getTime()
    if (left > 0) throw retryAfter('A call to a platform is in progress', Math.min(left, CALL_CHECK_INTERVAL_MS))
  }

  async function removePosts(userId: string): Promise<void> {
    for (;;) {
      const page = await posts.listSome(userId, PAGE)
      if (page.length === 0) return posts.removePlatformPosts(userId)
      await forEachBatch(page.filter(mayHavePrepared), (post) => deps.discardPrepared(post, post.platformStatuses))
      const ids = page.map(({ _id }) => _id)
      // The workflows go first, because only the posts name them.
      await orchestrator.deleteWorkflows(ids.map(publishPostWorkflowId))
      await posts.removeSome(userId, ids)
    }
  }

  async function removeFiles(userId: string): Promise<void> {
    for (const folder of listUserFolders(userId)) {
      for (;;) {
        const listed = await storage.list(folder, { after: null, limit: PAGE })
        if (listed.length === 0) break
        await forEachBatch(listed, ({ key }) => storage.remove(key))
      }
    }
    await deps.uploads.removeAllOf(userId)
  }

  /** Revokes each login at its platform, then removes it here. A login that cannot be revoked is removed all the same. */
  async function endConnections(userId: string): Promise<void> {
    await deps.connectAttempts.removeAllOf(userId)
    let isAllEnded = true
    for (const account of await accounts.listConnected(userId)) {
      if (await tryRevoke(account)) await accounts.disconnect(userId, [account._id])
      else isAllEnded = false
    }
    if (!isAllEnded) throw new Error('A platform did not revoke a login')
    await accounts.removeAllOf(userId)
    await deps.groups.removeAllOf(userId)
    await deps.slots.removeAllOf(userId)
  }

  async function tryRevoke(account: ConnectedAccount): Promise<boolean> {
    const { userId, platform } = account
    const adapter = deps.platforms.find(platform)
    const secrets = openSecretsIfReadable(deps.cipher, account)
    if (!secrets || !adapter?.revoke || (await endSession(adapter, secrets))) return true
    if (activityInfo().attempt < REVOKE_TRIES) return false
    log.warn('platform login not revoked', { userId, platform })
    return true
  }

  async function removeAccess(userId: string): Promise<void> {
    // The second round does not know the address. Its records are gone by then, or expire within the hour.
    const email = (await users.findById(userId))?.email
    await Promise.all([
      deps.mails.removeAllOf(userId),
      deps.sessions.removeAll(userId),
      deps.apiKeys.removeAllOf(userId),
      deps.passwordResets.removeAllOf(userId),
      deps.paymentEvents.removeAllOf(userId),
      deps.rateLimits.clearAllOf(email === undefined ? [userId] : [userId, email]),
      email !== undefined && deps.loginThrottle.removeAllOf(email),
      email !== undefined && deps.addressCodes.remove(deps.oneTimeCodes.addressKey(email)),
    ])
  }

  /** The workflows go before the webhooks, because only those name them. */
  async function removeWebhooks(userId: string): Promise<void> {
    const ids = (await deps.webhooks.listOf(userId)).map(({ _id }) => backgroundWorkflowId('deliverWebhooks', _id))
    if (ids.length > 0) await orchestrator.deleteWorkflows(ids)
    await deps.webhooks.removeAllOf(userId)
    await deps.webhookDeliveries.removeAllOf(userId)
  }

  /** Retried until it succeeds, because only the user record names the subscription. */
  async function endSubscription(userId: string): Promise<void> {
    const user = await users.findById(userId)
    if (!user || !hasPayments(user)) return
    if (deps.payments) return endPayments(deps.payments, user)
    log.error('subscription not ended, payments are not set up', { userId })
  }

  async function removeUser(userId: string): Promise<void> {
    await deps.database.transaction(async (session) => {
      await users.remove(userId, session)
      await erasures.markErased(userId, clock.now(), session)
    })
  }

  async function forEachBatch<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < items.length; first += CONCURRENT_ITEMS) {
      await Promise.all(items.slice(first, first + CONCURRENT_ITEMS).map(work))
      heartbeat()
    }
  }

  return {
    /** Returns null when nothing, or nothing more, is to be erased. */
    async beginErasure(userId: string): Promise<ErasurePlan | null> {
      const erasure = await erasures.lease(userId, new Date(clock.now().getTime() + LEASE_MS))
      return erasure && { steps: Object.keys(steps), repeatAt: erasure.requestedAt.getTime() + SECOND_ROUND_AFTER_MS }
    },

    async runErasureStep(userId: string, step: string): Promise<void> {
      await steps[step]!(userId)
    },

    async closeErasure(userId: string): Promise<void> {
      await erasures.close(userId)
    },
  }
}

/** Cancelled posts have no leftovers on a platform, and accepted posts belong to it. */
function mayHavePrepared({ status }: Post): boolean {
  return status === 'PROCESSING' || status === 'FAILED' || status === 'PARTIAL_SUCCESS'
}

/** A post may be claimed meanwhile, or removed by an earlier try. */
async function ignoreNotFound(cancelling: Promise<unknown>): Promise<void> {
  try {
    await cancelling
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'NOT_FOUND')) throw error
  }
}
