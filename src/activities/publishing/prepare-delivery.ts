import { withFreshLogin } from '../../commands/accounts/fresh-login.ts'
import type { SubscriptionPlan } from '../../domain/billing/subscription.ts'
import { resolveContent } from '../../domain/posts/content.ts'
import { explainFailure, failure, type Failure } from '../../domain/posts/failure.ts'
import { preparationFailed } from '../../domain/notifications/notifications.ts'
import { ClaimRefused, saveCheckpoint } from '../../domain/posts/delivery-moves.ts'
import {
  findOpenEntry,
  selectHandles,
  needsReconciliation,
  findOutdatedHandles,
} from '../../domain/posts/post-entries.ts'
import { toPartIndex, toParts } from '../../domain/posts/parts.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import type { Credentials, OutgoingPost, PlatformAdapter } from '../../platforms/contract.ts'
import { CheckpointUnknown, PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { DeliveryInput } from '../../workflows/contract/publishing.ts'
import { retryIn, type AttemptResult, type DeliveryTarget, type PrepareDeliveryIo } from './attempt.ts'
import { chooseForEntry } from './delivery-account.ts'
import { explainRefusal } from './explain-refusal.ts'
import { isPostDeleted } from './record-outcome.ts'
import { classifyFailure } from './retry-policy.ts'
import type { ServerOutages } from './server-outages.ts'
import type { Context } from '../../context.ts'

/** After this the owner is read again, since an administrator may have disabled them. */
const OWNER_CHECK_VALID_MS = 2 * SECOND
const ACCOUNT_DISABLED = failure('ACCOUNT_DISABLED', 'The account of this user is disabled')

/** The input of the visible call of a prepared delivery. */
export interface PreparedAccount {
  account: Credentials
  /** The plan of the owner. */
  plan: SubscriptionPlan
}

/** Does the invisible part of a delivery: before its claim, or well before the post is due. */
export function createPrepareDelivery(deps: Context & { outages: ServerOutages }) {
  const { posts, users, notifications, credentials, platforms, clock, outages } = deps

  /**
   * Uploads and prepares whatever the visible call needs.
   * @returns the account for that call, or the rule of this service that forbids it
   * @throws PlatformError, ClaimRefused, and errors of the database
   */
  async function prepareAccount(target: DeliveryTarget, adapter: PlatformAdapter): Promise<PreparedAccount | Failure> {
    const { userId } = target.post
    const { platform } = target.input
    const { signal } = target.activity
    const startedAt = clock.now()
    const owner = await findActiveOwner(userId)
    if (!owner) return ACCOUNT_DISABLED
    const choose = chooseForEntry(target)
    const account = await credentials.get(userId, platform, { signal, choose })
    if (!account) return failure('PLATFORM_NOT_CONNECTED', 'The platform is not connected')
    return await withFreshLogin(
      credentials,
      { userId, platform, account, choose, signal },
      { call: prepareWith, isRefused: isUnauthorized },
    )

    async function prepareWith(used: Credentials): Promise<PreparedAccount | Failure> {
      try {
        await outages.call(target, adapter, used, () => prepareContent(target, adapter, used))
      } catch (error) {
        throw await explainRefusal(credentials, { adapter, userId, account: used, error })
      }
      return refuseIfDisabled({ account: used, plan: owner!.subscription.plan })
    }

    /** Uploads may have taken minutes, and disabling a user does not change a post that other platforms already have. */
    async function refuseIfDisabled(prepared: PreparedAccount): Promise<PreparedAccount | Failure> {
      const isFresh = clock.now().getTime() - startedAt.getTime() < OWNER_CHECK_VALID_MS
      return isFresh || (await findActiveOwner(userId)) ? prepared : ACCOUNT_DISABLED
    }
  }

  async function prepareContent(target: DeliveryTarget, adapter: PlatformAdapter, account: Credentials): Promise<void> {
    await discardOutdated(target, adapter, account)
    await rethrowSaveErrors(createCheckpoints(target, account), (checkpoints) =>
      adapter.prepare(toOutgoingPost(target), account, checkpoints, {
        signal: target.activity.signal,
      }),
    )
  }

  /** Returns null for a disabled or deleted user. */
  async function findActiveOwner(userId: string): Promise<User | null> {
    const owner = await users.findById(userId)
    return owner?.isDisabled ? null : owner
  }

  /** Best effort: leftovers on the platform are visible to the account's owner alone, and are never published. */
  async function discardOutdated(
    { post: { contentVersion }, entry: { delivery }, activity: { signal } }: DeliveryTarget,
    adapter: PlatformAdapter,
    account: Credentials,
  ): Promise<void> {
    const handles = findOutdatedHandles(delivery, { accountId: account.accountId, contentVersion })
    if (!handles || !adapter.discard) return
    try {
      await adapter.discard({ get: (name) => handles[name] }, account, { signal })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
    }
  }

  function createCheckpoints({ post, entry, input }: DeliveryTarget, account: Credentials) {
    const handles = new Map(Object.entries(selectHandles(entry.delivery, account.accountId, post.contentVersion)))
    return {
      get: (name: string) => handles.get(name),
      async save(name: string, value: string): Promise<void> {
        const ref = { round: input.round, attempt: entry.delivery.attempt, part: toPartIndex(entry) }
        const { accountId } = account
        const { contentVersion } = post
        const checkpoint = { ...ref, accountId, contentVersion, name, value }
        await posts.transition(post, saveCheckpoint(toTarget(input), checkpoint)).catch((error: unknown) => {
          throw isDatabaseOutage(error) ? new CheckpointUnknown(error) : error
        })
        handles.set(name, value)
      },
    }
  }

  /**
   * Does the invisible steps alone, well before the post is due. A failure that would end the delivery becomes a warning to the user.
   * @param attempt counts from 1
   * @returns `retryIn` while another attempt may succeed, and null at the end
   * @throws errors of the database
   */
  async function prepareAhead(
    input: DeliveryInput,
    attempt: number,
    activity: PrepareDeliveryIo,
  ): Promise<(AttemptResult & { kind: 'retryIn' }) | null> {
    const post = await posts.find(input.postId, input.userId)
    const entry = post && findOpenEntry(post, toTarget(input), input.round)
    const adapter = platforms.find(input.platform)
    if (!post || !entry || !adapter || needsReconciliation(entry.delivery, clock.now())) return null
    let obstacle: Failure
    try {
      const prepared = await prepareAccount({ input, post, entry, activity }, adapter)
      if (!('code' in prepared)) return null
      obstacle = prepared
    } catch (error) {
      activity.signal.throwIfAborted()
      if (isDatabaseOutage(error)) throw error
      if (isPostDeleted(error)) return null
      if (error instanceof ClaimRefused) {
        return error.reason === 'stale' ? retryIn(SECOND, 'The post was changed while it was prepared') : null
      }
      const decision = classifyFailure(error, attempt - 1, Math.random(), 0)
      if (decision.reason.code === 'INTERNAL') activity.report('early preparation failed unexpectedly', error)
      if (decision.kind === 'defer') return retryIn(decision.waitMs, explainFailure(decision.reason, input.platform))
      obstacle = decision.reason
    }
    await notifications.insertOnce(preparationFailed(post, entry, obstacle))
    return null
  }

  return { prepareAccount, createCheckpoints, prepareAhead }
}

export type PrepareDelivery = ReturnType<typeof createPrepareDelivery>

/** Returns the part of a post that its delivery is about. */
export function toOutgoingPost({ post, entry }: Pick<DeliveryTarget, 'post' | 'entry'>): OutgoingPost {
  const index = toPartIndex(entry)
  const whole = resolveContent(post, entry)
  const { kind, content, link } = toParts(entry.platform, whole)[index]!
  const [root, parent] = [entry.parts?.[0], entry.parts?.at(-1)]
  const replyTo = root && parent && { rootId: root.platformPostId, parentId: parent.platformPostId }
  return { postId: post._id, kind, content, options: whole.options ?? {}, link, ...(replyTo && { replyTo }) }
}

/** Throws an error of `save` again after `work`, because an adapter may swallow or wrap it. */
async function rethrowSaveErrors<C extends { save(name: string, value: string): Promise<void> }>(
  checkpoints: C,
  work: (checkpoints: C) => Promise<void>,
): Promise<void> {
  let saveError: unknown
  const watched = {
    ...checkpoints,
    async save(name: string, value: string) {
      try {
        await checkpoints.save(name, value)
      } catch (error) {
        saveError = error
        throw error
      }
    },
  }
  try {
    await work(watched)
  } catch (error) {
    throw saveError ?? error
  }
}

export function isUnauthorized(error: unknown): error is PlatformError {
  return error instanceof PlatformError && error.class === 'unauthorized' && error.certain
}
