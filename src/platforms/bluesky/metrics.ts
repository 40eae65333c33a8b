import { NO_COUNTS, type PostCounts } from '../../domain/analytics/analytics.ts'
import type { CallOptions, Credentials, PostMetrics } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { parseCount, hasAnyCount } from '../shared/counts.ts'
import { mapInGroups } from '../shared/map-in-groups.ts'
import { readPostViews, readStoredRecord, type PostView } from './responses.ts'
import { isRefusedAs } from './errors.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { asAccount, type Xrpc } from './xrpc.ts'

interface MetricsDeps {
  xrpc: Xrpc
  services: ServiceAddresses
}

/** The maximum of `getPosts`. */
const PER_CALL = 25
const CONCURRENCY = 5

/**
 * Reads the counts from Bluesky's view of the network. It lags behind the account's own server and hides blocked
 * content, so only the account's own server decides whether a missing post is deleted.
 */
export function createMetrics({ xrpc, services }: MetricsDeps): PostMetrics {
  async function read(uris: string[], account: Credentials, options: CallOptions) {
    const call = { ...options, ...asAccount(account) }
    const { posts } = await xrpc.query(
      { service: services.resolve(account), nsid: 'app.bsky.feed.getPosts', params: { uris } },
      readPostViews,
      call,
    )
    const found = new Map<string, PostCounts | 'deleted'>()
    await mapInGroups(uris, CONCURRENCY, async (uri) => {
      const post = posts.find((one) => one.uri === uri)
      const counts = post && toCounts(post)
      if (counts && hasAnyCount(counts)) found.set(uri, counts)
      if (!post && (await isDeleted(uri, account, options))) found.set(uri, 'deleted')
    })
    return found
  }

  /** Call it only after the token has worked: the response of another server about a moved account proves nothing. */
  async function isDeleted(uri: string, account: Credentials, options: CallOptions): Promise<boolean> {
    const [repo = '', collection = '', rkey = ''] = uri.replace('at://', '').split('/')
    if (repo !== account.accountId) return false
    const params = { repo, collection, rkey }
    try {
      await xrpc.query(
        { service: services.resolve(account), nsid: 'com.atproto.repo.getRecord', params },
        readStoredRecord,
        options,
      )
      return false
    } catch (error) {
      if (isRefusedAs(error, 'RecordNotFound')) return true
      // A definite answer to a different question.
      if (error instanceof PlatformError && error.class === 'validation') return false
      throw error
    }
  }

  return { perCall: PER_CALL, read }
}

function toCounts(post: PostView): PostCounts {
  const [reposts, quotes] = [parseCountOrZero(post.repostCount), parseCountOrZero(post.quoteCount)]
  return {
    ...NO_COUNTS,
    likes: parseCountOrZero(post.likeCount),
    shares: reposts === null || quotes === null ? null : reposts + quotes,
    comments: parseCountOrZero(post.replyCount),
    // Absent only on servers without bookmarks.
    saved: parseCount(post.bookmarkCount),
  }
}

/** Parses a count that the server may omit when it is zero. */
function parseCountOrZero(value: unknown): number | null {
  return value === undefined ? 0 : parseCount(value)
}
