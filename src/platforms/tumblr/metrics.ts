import { NO_COUNTS, type PostCounts } from '../../domain/analytics/analytics.ts'
import type { CallOptions, Credentials, PostMetrics } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { parseCount, hasAnyCount } from '../shared/counts.ts'
import { mapInGroups } from '../shared/map-in-groups.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import { toTokenPair } from './accounts.ts'
import { readBlogInfo, readMeta, readNotedPosts, readNotes, type NotedPost, type Notes } from './responses.ts'
import { toBlogPath, type Api } from './api.ts'

/** The number of posts in one listing. */
const PER_CALL = 20
/** The number of listings to search for posts that are not among the newest. */
const MAX_LISTINGS = 3
const CONCURRENCY = 5

const NO_NOTES: PostCounts = { ...NO_COUNTS, likes: 0, shares: 0, comments: 0 }

/**
 * Reads the notes of posts. Calls are scarce: the newest posts are read together, and the kinds of notes only for posts
 * that have notes.
 */
export function createMetrics(api: Api): PostMetrics {
  async function get<T>(
    { path, params = {} }: { path: string; params?: Record<string, string> },
    read: (text: string) => T | null,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<T> {
    const call = { method: 'GET', path: toBlogPath(account, path), params } as const
    return api.send(call, read, { token: toTokenPair(account), signal })
  }

  async function read(ids: string[], account: Credentials, options: CallOptions) {
    const found = new Map<string, PostCounts | 'deleted'>()
    const shown = await listShownPosts(ids, account, options)
    if (!shown) return found
    const gone: string[] = []
    await mapInGroups(ids, CONCURRENCY, async (id) => {
      const post = shown.find((one) => one.id_string === id) ?? (await findPost(id, account, options))
      const counts = post && (await fetchCounts(post, account, options))
      if (counts && hasAnyCount(counts)) found.set(id, counts)
      if (!post && !(await isPresent(`posts/${encodeURIComponent(id)}`, readMeta, account, options))) gone.push(id)
    })
    // If the blog itself is missing, every post seems missing.
    const isGone = gone.length > 0 && (await isPresent('info', readBlogInfo, account, options))
    if (isGone) for (const id of gone) found.set(id, 'deleted')
    return found
  }

  /** Returns the posts found in listings while these save calls; `null` when there is no such blog. */
  async function listShownPosts(
    ids: string[],
    account: Credentials,
    options: CallOptions,
  ): Promise<NotedPost[] | null> {
    let missing = ids
    const shown: NotedPost[] = []
    for (let listing = 0; missing.length > 1 && listing < MAX_LISTINGS; listing++) {
      const offset = listing * PER_CALL
      const params = { limit: String(PER_CALL), ...(offset > 0 && { offset: String(offset) }) }
      const posts = await listPosts(params, account, options)
      if (!posts) return null
      const wanted = posts.filter(({ id_string }) => missing.includes(id_string))
      shown.push(...wanted)
      missing = missing.filter((id) => !wanted.some((post) => post.id_string === id))
      if (posts.length < PER_CALL) break
    }
    return shown
  }

  /** Returns `null` when there is no such post or blog. */
  async function listPosts(params: Record<string, string>, account: Credentials, options: CallOptions) {
    try {
      return (await get({ path: 'posts', params: { npf: 'true', ...params } }, readNotedPosts, account, options)).posts
    } catch (error) {
      if (isRefusedAs(error, 'missing')) return null
      throw error
    }
  }

  /** Returns undefined when the blog does not show the post, for instance because its author made it private. */
  async function findPost(id: string, account: Credentials, options: CallOptions): Promise<NotedPost | undefined> {
    const posts = await listPosts({ id, notes_info: 'true' }, account, options)
    return posts?.find((one) => one.id_string === id)
  }

  async function isPresent(
    path: string,
    read: (text: string) => unknown,
    account: Credentials,
    options: CallOptions,
  ): Promise<boolean> {
    try {
      await get({ path }, read, account, options)
      return true
    } catch (error) {
      if (isRefusedAs(error, 'missing')) return false
      throw error
    }
  }

  async function fetchCounts(post: NotedPost, account: Credentials, options: CallOptions): Promise<PostCounts> {
    const total = parseCount(post.note_count)
    if (total === 0) return NO_NOTES
    try {
      const params = { id: post.id_string, mode: 'conversation' }
      return splitNotes(total, await get({ path: 'notes', params }, readNotes, account, options))
    } catch (error) {
      // The post exists; that its notes are not readable says nothing about other posts.
      if (error instanceof PlatformError && ['not_found', 'permission', 'validation'].includes(error.class)) {
        return NO_COUNTS
      }
      throw error
    }
  }

  return { perCall: PER_CALL, read }
}

/**
 * Splits the notes into counts. Replies are the remainder of all notes. `total_notes` depends on the mode, so it may
 * only raise the post's own count.
 */
function splitNotes(total: number | null, notes: Notes): PostCounts {
  const [likes, reblogs] = [parseCount(notes.total_likes), parseCount(notes.total_reblogs)]
  const all = total === null ? null : Math.max(total, parseCount(notes.total_notes) ?? 0)
  const replies = all === null || likes === null || reblogs === null ? null : all - likes - reblogs
  return { ...NO_COUNTS, likes, shares: reblogs, comments: parseCount(replies) }
}
