import type { Clock } from '../../clock.ts'
import type { AccountCredentials } from '../../commands/accounts/account-credentials.ts'
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
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, OutgoingPost, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { DeliveryInput } from '../../workflows/messages.ts'
import { isGone, TryAgainIn } from './record-outcome.ts'
import { verdictOn } from './retry-policy.ts'

/** How long it holds that the owner may post. */
const LONGEST_TRUSTED_MS = 2 * SECOND
const SHUT_OUT = failure('ACCOUNT_DISABLED', 'The account of this user is disabled')

export interface PreparationDeps {
  posts: PostStore
  users: Pick<UserStore, 'findById'>
  notifications: NotificationStore
  credentials: AccountCredentials
  platforms: Pick<PlatformRegistry, 'find'>
  clock: Clock
}

/** What it needs of the activity that runs it. */
export interface PreparationIo {
  /** Ends waits and invisible work; never the visible call. */
  signal: AbortSignal
  /** Something of ours went wrong; goes to the log, not to the user. */
  report(message: string, error: unknown): void
}

/** All that nobody sees of a delivery: before its claim, or well ahead of its instant. */
export function createPreparation({ posts, users, notifications, credentials, platforms, clock }: PreparationDeps) {
  /** All that is invisible. Answers with the reason when a rule of ours stands in the way. */
  async function ready(
    post: Post,
    entry: PlatformStatus,
    adapter: PlatformAdapter,
    input: DeliveryInput,
    io: Pick<PreparationIo, 'signal'>,
  ): Promise<Credentials | Failure> {
    const begun = clock.now()
    if (await isShutOut(post.userId)) return SHUT_OUT
    const account = await credentials.get(post.userId, input.platform, { signal: io.signal })
    if (!account) return failure('PLATFORM_NOT_CONNECTED', 'The platform is not connected')
    const prepare = async (used: Credentials) => {
      await discardOutdated(post, entry, adapter, used, io)
      await keepingOwnErrors(log(post, entry, used, input), (watched) =>
        adapter.prepare(outgoing(post, input), used, watched, { signal: io.signal }),
      )
    }
    try {
      await prepare(account)
      return await unlessShutOut(account)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
    }
    const renewed = await credentials.renew(post.userId, input.platform, account, { signal: io.signal })
    try {
      await prepare(renewed)
    } catch (error) {
      if (isUnauthorized(error)) await credentials.markExpired(post.userId, input.platform, renewed, error.message)
      throw error
    }
    return unlessShutOut(renewed)

    /** Files may have been uploaded for minutes, and a post that other platforms have already is not told of its owner's end. */
    async function unlessShutOut(used: Credentials): Promise<Credentials | Failure> {
      const isFresh = clock.now().getTime() - begun.getTime() < LONGEST_TRUSTED_MS
      return isFresh || !(await isShutOut(post.userId)) ? used : SHUT_OUT
    }
  }

  async function isShutOut(userId: string): Promise<boolean> {
    const owner = await users.findById(userId)
    return !owner || owner.isDisabled
  }

  /** Best effort: what stays on the platform is seen by the account's owner alone, and never published. */
  async function discardOutdated(
    { contentVersion }: Post,
    { delivery }: PlatformStatus,
    adapter: PlatformAdapter,
    account: Credentials,
    { signal }: Pick<PreparationIo, 'signal'>,
  ): Promise<void> {
    const handles = findOutdatedHandles(delivery, { accountId: account.accountId, contentVersion })
    if (!handles || !adapter.discard) return
    try {
      await adapter.discard({ handle: (name) => handles[name] }, account, { signal })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
    }
  }

  function log(post: Post, entry: PlatformStatus, account: Credentials, input: DeliveryInput) {
    const handles = new Map(Object.entries(selectHandles(entry.delivery, account.accountId, post.contentVersion)))
    return {
      handle: (name: string) => handles.get(name),
      async save(name: string, value: string): Promise<void> {
        const { round } = input
        const { accountId } = account
        const { contentVersion } = post
        await posts.transition(
          post._id,
          saveCheckpoint(input.platform, { round, accountId, contentVersion, name, value }),
        )
        handles.set(name, value)
      },
    }
  }

  /**
   * The invisible steps alone, well ahead of the instant. What would make the delivery fail is told as a warning.
   * @param attempt counts from 1
   * @throws TryAgainIn while it may still come right; errors of the database pass through
   */
  async function ahead(input: DeliveryInput, attempt: number, io: PreparationIo): Promise<void> {
    const post = await posts.find(input.postId)
    const entry = post && findOpenEntry(post, input.platform, input.round)
    const adapter = platforms.find(input.platform)
    if (!post || !entry || !adapter || needsReconciliation(entry.delivery, clock.now())) return
    const obstacle = await ready(post, entry, adapter, input, io).catch((error: unknown) => {
      io.signal.throwIfAborted()
      if (isDatabaseOutage(error)) throw error
      if (isGone(error)) return null
      if (error instanceof ClaimRefused) {
        if (error.reason === 'stale') throw new TryAgainIn(SECOND, 'The post was changed while it was prepared')
        return null
      }
      const verdict = verdictOn(error, attempt - 1, Math.random(), 0)
      if (verdict.reason.code === 'INTERNAL') io.report('Preparing ahead failed in an unexpected way', error)
      if (verdict.kind === 'defer') throw new TryAgainIn(verdict.waitMs, explainFailure(verdict.reason, input.platform))
      return verdict.reason
    })
    if (obstacle && 'code' in obstacle) {
      await notifications.insertOnce(preparationFailed(post, input.platform, input.round, obstacle))
    }
  }

  return { ready, log, ahead }
}

export type Preparation = ReturnType<typeof createPreparation>

export function outgoing(post: Post, { platform }: DeliveryInput): OutgoingPost {
  return { postId: post._id, content: resolveContent(post, platform) }
}

/** Errors of `save` pass the adapter by, whatever it makes of them. */
async function keepingOwnErrors<L extends { save(name: string, value: string): Promise<void> }>(
  log: L,
  work: (log: L) => Promise<void>,
): Promise<void> {
  let own: unknown
  const watched = {
    ...log,
    async save(name: string, value: string) {
      try {
        await log.save(name, value)
      } catch (error) {
        own = error
        throw error
      }
    },
  }
  try {
    await work(watched)
  } catch (error) {
    throw own ?? error
  }
}

export function isUnauthorized(error: unknown): error is PlatformError {
  return error instanceof PlatformError && error.class === 'unauthorized' && error.certain
}
