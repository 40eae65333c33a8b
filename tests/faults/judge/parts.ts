import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Evidence, Operation, PostInput, StoredPost, Violation } from './evidence.ts'

type Entry = StoredPost['platformStatuses'][number]

/** The platforms that publish the posts of a thread one by one, and those that publish a first comment. */
const WITH_THREADS: readonly Platform[] = ['bluesky', 'mastodon', 'threads']
const WITH_COMMENTS: readonly Platform[] = [...WITH_THREADS, 'facebook', 'instagram']

/**
 * Makes a post of its own of every further part of a post, so that what holds for the effects of posts holds for those of parts.
 * @returns the evidence with these posts and their operations
 */
export function splitParts(evidence: Evidence): Evidence {
  const stored = new Map(evidence.posts.map((post) => [post._id, post]))
  const byPost = Map.groupBy(
    evidence.operations.filter(({ postId }) => postId !== null),
    ({ postId }) => postId!,
  )
  const ids = new Set([...stored.keys(), ...byPost.keys()])
  const posts = evidence.posts.map(toFirstPart)
  const operations = [...evidence.operations]
  for (const id of ids) {
    const post = stored.get(id)
    const own = byPost.get(id) ?? []
    const inputs = own.flatMap(({ input }) => input ?? [])
    const texts = [...inputs.map(({ segments = [] }) => segments.length), post?.content.segments?.length ?? 0]
    const segments = Math.max(...texts)
    const hasComment = inputs.some(({ firstComment }) => firstComment) || post?.content.firstComment !== undefined
    for (let part = 1; part <= segments; part++) add(part, WITH_THREADS, ({ segments: all }) => all?.[part - 1])
    if (hasComment) add('comment', WITH_COMMENTS, ({ firstComment }) => firstComment)

    function add(
      part: number | 'comment',
      platforms: readonly Platform[],
      toText: (input: PostInput) => string | undefined,
    ) {
      if (post) posts.push(toPartPost(post, part, platforms))
      operations.push(...own.map((operation) => toPartOperation(operation, `${id}#${part}`, platforms, toText)))
    }
  }
  return { ...evidence, posts, operations }
}

function toFirstPart(post: StoredPost): StoredPost {
  const toFirst = (entry: Entry): Entry => (entry.parts?.length ? toPart(entry, 0) : entry)
  return { ...post, platformStatuses: post.platformStatuses.map(toFirst) }
}

function toPartPost(post: StoredPost, part: number | 'comment', platforms: readonly Platform[]): StoredPost {
  const { segments = [], firstComment = '' } = post.content
  const entries = post.platformStatuses.filter(({ platform }) => platforms.includes(platform))
  return {
    ...post,
    _id: `${post._id}#${part}`,
    content: { text: part === 'comment' ? firstComment : (segments[part - 1]?.text ?? '') },
    selectedPlatforms: post.selectedPlatforms.filter((platform) => platforms.includes(platform)),
    platformStatuses: entries.map((entry) => (part === 'comment' ? toComment(entry) : toPart(entry, part))),
  }
}

/** Parts are published in order, so the delivery is about the first that is not. */
function toPart(entry: Entry, part: number): Entry {
  const { parts = [], comment: _, ...one } = entry
  const published = parts[part]
  if (published) return { ...one, status: 'completed', platformPostId: published.platformPostId }
  const isNext = part === parts.length
  return { ...one, platformPostId: null, errorCode: isNext ? one.errorCode : null }
}

function toComment(entry: Entry): Entry {
  const { parts: _, comment, ...one } = entry
  const { status = one.status, platformPostId = null, errorCode = null } = comment ?? {}
  return { ...one, status: status as Entry['status'], platformPostId, errorCode: comment ? errorCode : one.errorCode }
}

function toPartOperation(
  operation: Operation,
  postId: string,
  platforms: readonly Platform[],
  toText: (input: PostInput) => string | undefined,
): Operation {
  const { input } = operation
  if (!input) return { ...operation, postId }
  const { text: _text, segments: _segments, firstComment: _comment, overrides: _overrides, ...others } = input
  const text = toText(input)
  const selected = input.platforms?.filter((platform) => platforms.includes(platform))
  const own = { ...others, ...(text !== undefined && { text }), ...(selected && { platforms: selected }) }
  return { ...operation, postId, input: own }
}

/** I1, for threads: every part replies to the part before it. */
export function judgeOrder({ posts, platforms }: Evidence): Violation[] {
  const found: string[] = []
  for (const { platform, target, ledger } of platforms) {
    const parents = new Map(ledger.map(({ id, replyTo }) => [id, replyTo]))
    for (const { _id, platformStatuses } of posts) {
      const entry = platformStatuses.find((one) => one.platform === platform && one.target === target)
      const ids = (entry?.parts ?? []).map(({ platformPostId }) => platformPostId)
      if (entry?.comment?.platformPostId) ids.push(entry.comment.platformPostId)
      for (const [index, id] of ids.entries()) {
        if (!parents.has(id)) continue
        const parent = parents.get(id)
        if (parent !== ids[index - 1])
          found.push(`post ${_id}: on ${platform}, ${id} replies to ${parent}, not to ${ids[index - 1]}`)
      }
    }
  }
  return found.map((message) => ({ invariant: 'I1', message }))
}
