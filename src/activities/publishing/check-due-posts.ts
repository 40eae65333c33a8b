import { cancellationSignal, heartbeat, log } from '@temporalio/activity'
import { loadRules } from '../../commands/posts/current-rules.ts'
import { describeDelay, forecastDelays } from '../../commands/posts/forecast-delays.ts'
import { preparationFailed, toWarningPrefix } from '../../domain/notifications/notifications.ts'
import { resolveContent } from '../../domain/posts/content.ts'
import { findObstacle } from '../../domain/posts/due-check.ts'
import { failure, type Failure } from '../../domain/posts/failure.ts'
import { findFileProblem, type MediaFiles } from '../../domain/posts/media-files.ts'
import { toKindRules } from '../../domain/posts/posting-rules.ts'
import { toParts } from '../../domain/posts/parts.ts'
import type { MediaItem, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { toKnownContent } from '../../domain/posts/preflight.ts'
import { toTarget, type Target } from '../../domain/posts/targets.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { UncheckedPage, UncheckedCursor } from '../../workflows/contract/publishing.ts'
import { chooseForEntry } from './delivery-account.ts'
import { classifyFailure } from './retry-policy.ts'
import type { Context } from '../../context.ts'

const PAGE = 500
const CONCURRENT_CHECKS = 16
const CHECK_DEADLINE_MS = 20 * SECOND
/** A login has to last until the post was published, with its retries. */
const LOGIN_MARGIN_MS = 10 * MINUTE

/** What a check found out about an entry. `unknown`: the service or the platform did not answer. */
type Finding = { target: Target; obstacle: Failure | 'unknown' | null }

/**
 * Checks scheduled posts once more shortly before they are due (docs/design/life-of-a-post.md#check-before-the-instant). It changes neither the posts nor
 * their deliveries. What would make them fail becomes a warning; the warning is removed once it would not.
 */
export function createCheckDuePostsActivities(deps: Context) {
  const { posts, accounts, credentials, platforms, media, notifications, clock, preflightLeadMs } = deps
  const takeTurn = createFairLimit({ maxRunning: CONCURRENT_CHECKS })

  async function checkEntry(post: Post, entry: PlatformStatus, signal: AbortSignal): Promise<Failure | null> {
    const { userId, dueAt } = post
    const { platform } = entry
    const choose = chooseForEntry({ post, entry })
    // A post for a platform that is not set up here fails with that reason. Its owner cannot change it.
    if (!platforms.find(platform)) return null
    const leftMs = dueAt!.getTime() - clock.now().getTime()
    await credentials.get(userId, platform, { signal, choose, minLifeMs: leftMs + LOGIN_MARGIN_MS })
    const account = choose(await accounts.listConnected(userId), platform)
    const stated = resolveContent(post, entry)
    const parts = toParts(platform, stated)
    const mediaItems = parts.flatMap(({ content }) => content.mediaItems)
    const [rules, files] = await Promise.all([
      loadRules(deps, platform, account?.server ?? undefined),
      readFiles(mediaItems, signal),
    ])
    const obstacle = findObstacle({
      platform,
      parts: parts.map(({ kind, content }) => ({ kind, content: toKnownContent(platform, content, stated, files) })),
      dueAt: dueAt!,
      rules: toKindRules(platform, rules, stated.options),
      account: account && { health: account.health, endsAt: account.auth.endsAt },
    })
    if (obstacle) return obstacle
    const problems = mediaItems.flatMap((item) => findFileProblem(item, files.get(item.storageKey)!) ?? [])
    if (problems[0] !== undefined) return failure('MEDIA_UNAVAILABLE', problems[0])
    const planned = { userId, postId: post._id, dueAt: dueAt! }
    const [delay] = (await forecastDelays(deps, planned, account ? [account] : [])).values()
    return delay ? failure('QUOTA_EXCEEDED', describeDelay(platform, delay, post.timezone)) : null
  }

  async function readFiles(items: readonly MediaItem[], signal: AbortSignal): Promise<MediaFiles> {
    const read = async (item: MediaItem) => [item.storageKey, await media.readFile(item, { signal })] as const
    return new Map(await Promise.all(items.map(read)))
  }

  async function inspectEntry(post: Post, entry: PlatformStatus, signal: AbortSignal): Promise<Finding> {
    const target = toTarget(entry)
    try {
      return { target, obstacle: await checkEntry(post, entry, signal) }
    } catch (error) {
      signal.throwIfAborted()
      const decision = classifyFailure(error, 0, 0, 0)
      if (decision.kind === 'refuse') return { target, obstacle: decision.reason }
      log.info('a post could not be checked before it is due', { postId: post._id, code: decision.reason.code })
      return { target, obstacle: 'unknown' }
    }
  }

  /** @returns the number of new warnings */
  async function checkPost(post: Post, signal: AbortSignal): Promise<number> {
    const entries = post.platformStatuses.filter(({ status }) => status === 'pending')
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CHECK_DEADLINE_MS)])
    const findings = await Promise.all(entries.map((entry) => inspectEntry(post, entry, deadline)))
    const before = new Set(post.dueCheck?.warned)
    const warned: string[] = []
    let added = 0
    for (const { target, obstacle } of findings) {
      if (obstacle === 'unknown' ? before.has(target) : obstacle) warned.push(target)
      if (obstacle === null || obstacle === 'unknown') continue
      const entry = entries.find((one) => toTarget(one) === target)!
      if (await notifications.insertOnce(preparationFailed(post, entry, obstacle))) added += 1
    }
    const cleared = [...before].filter((target) => !warned.includes(target))
    for (const target of cleared) await notifications.removeByKey(post.userId, toWarningPrefix(post._id, target))
    const isDone = findings.every(({ obstacle }) => obstacle === null)
    // What would fail is checked again, so that the warning is removed once the user has acted.
    if (isDone || cleared.length > 0 || warned.length > before.size) {
      await posts.saveDueCheck(post, { at: isDone ? clock.now() : null, warned })
    }
    return added
  }

  return {
    /** Checks one page of posts; their owners take turns. */
    async checkDuePostsPage(cursor: UncheckedCursor | null): Promise<UncheckedPage> {
      const signal = cancellationSignal()
      const now = clock.now()
      const page = await posts.listUnchecked({
        dueAfter: now,
        dueUntil: new Date(now.getTime() + preflightLeadMs),
        after: cursor && { dueAt: new Date(cursor.dueAt), postId: cursor.postId },
        limit: PAGE,
      })
      let warned = 0
      await Promise.all(
        page.map((post) =>
          takeTurn(post.userId, async () => {
            signal.throwIfAborted()
            const added = await checkPost(post, signal)
            warned += added
            heartbeat(warned)
          }),
        ),
      )
      const last = page.at(-1)
      const next = last && page.length === PAGE ? { dueAt: last.dueAt!.getTime(), postId: last._id } : null
      return { checked: page.length, warned, next }
    },
  }
}
