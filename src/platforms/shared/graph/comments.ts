import { Type, type Static } from '@sinclair/typebox'
import type { Platform } from '../../../domain/shared/platforms.ts'
import type { Published } from '../../../domain/posts/post.ts'
import { POSTING_RULES } from '../../../domain/posts/posting-rules.ts'
import type {
  CallOptions,
  Checkpoints,
  Credentials,
  DeliveryCheckpoints,
  NotFoundResult,
  OutgoingPost,
  PlatformAdapter,
  SearchOptions,
} from '../../contract.ts'
import { PlatformError } from '../../errors.ts'
import { isNoLongerInFlight, type InFlightTimes } from '../in-flight.ts'
import { CLOCK_TOLERANCE_MS, listSince } from '../list-since.ts'
import { assertPostable } from '../postable.ts'
import { toParentGoneError, toUnprovenError } from '../refusals.ts'
import { responseReader } from '../responses.ts'
import { hasDifferentWords, normalizeWhitespace } from '../text-difference.ts'
import type { GraphApi, GraphParams } from './api.ts'
import { isErrorClass, isMissing } from './errors.ts'
import { isPresent } from './presence.ts'

const optionalText = Type.Optional(Type.String())

/** The two products name the fields differently. */
const Comment = Type.Object({
  id: Type.String({ minLength: 1 }),
  message: optionalText,
  text: optionalText,
  created_time: optionalText,
  timestamp: optionalText,
  from: Type.Optional(Type.Object({ id: Type.String() })),
  username: optionalText,
  permalink_url: optionalText,
})
export type GraphComment = Static<typeof Comment>
const readComment = responseReader(Comment)
const readComments = responseReader(
  Type.Object({
    data: Type.Array(Comment),
    paging: Type.Optional(Type.Object({ cursors: Type.Optional(Type.Object({ after: optionalText })) })),
  }),
)

/** The differences between the products. */
export interface CommentDialect {
  platform: Extract<Platform, 'facebook' | 'instagram'>
  /** The permission that a login with Facebook grants for comments. */
  permission: string
  /** The fields to return of a new comment, where the product supports it. */
  created: GraphParams
  /** The fields of listed comments, and the order from new to old where it is not the default. */
  listed: GraphParams
  /** Returns `null` when the comment does not show whether the account wrote it. */
  isOwn(comment: GraphComment, account: Credentials): boolean | null
  /** Returns the URL of a comment, or of the post that it is below. Never fails. */
  fetchUrl(comment: GraphComment, postId: string, account: Credentials, options: CallOptions): Promise<string>
}

interface CommentDeps {
  api: GraphApi
  dialect: CommentDialect
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  times: InFlightTimes
}

type Steps = Pick<PlatformAdapter, 'prepare' | 'publish' | 'reconcile'>

const PAGE = 50
const MAX_PAGES = 8

/** Publishes comments below posts. Neither product recognises a repeat, so an unknown outcome is searched for. */
export function createComments({ api, dialect, publishTimeoutMs, times }: CommentDeps): Steps {
  const { platform } = dialect
  const toPath = (postId: string) => `/${encodeURIComponent(postId)}/comments`

  async function prepare(post: OutgoingPost, account: Credentials, _: Checkpoints, options: CallOptions) {
    assertPostable(platform, post, POSTING_RULES[platform])
    const isThere = await isPresent(api, toPostId(post), toCall(account, options))
    if (!isThere) throw toParentGoneError(api.label)
    api.warm()
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    _: DeliveryCheckpoints,
    options: CallOptions,
  ): Promise<Published> {
    const postId = toPostId(post)
    const fields = { message: post.content.text, ...dialect.created }
    const call = { ...toCall(account, options), timeoutMs: publishTimeoutMs }
    let created: GraphComment
    try {
      created = await api.post(toPath(postId), fields, readComment, call)
    } catch (error) {
      throw isMissing(error) ? await explainMissing(error, postId, account, options) : namePermission(error)
    }
    return toPublished(created, postId, account, options)
  }

  /** Only a second read shows that the post is gone. Its comments are gone with it. */
  async function explainMissing(
    error: PlatformError,
    postId: string,
    account: Credentials,
    options: CallOptions,
  ): Promise<PlatformError> {
    const isThere = await isPresent(api, postId, toCall(account, options)).catch(() => true)
    return isThere ? toUnprovenError(error) : toParentGoneError(api.label, error)
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const postId = toPostId(post)
    const { found, isComplete } = await listSince({
      since: delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS,
      maxPages: MAX_PAGES,
      toTime: ({ created_time, timestamp = '' }: GraphComment) => Date.parse(created_time ?? timestamp),
      load: (after) => loadPage(postId, after, account, options),
    })
    if (!isComplete) return 'undecidable'
    const candidates: GraphComment[] = []
    for (const one of found) {
      if (dialect.isOwn(one, account) !== false && !(await options.isTaken(one.id))) candidates.push(one)
    }
    const { text } = post.content
    const isOwn = (one: GraphComment) => dialect.isOwn(one, account) === true
    // Of equal matches the oldest is taken; the others belong to posts that are reconciled later.
    const match = candidates.toReversed().find((one) => isOwn(one) && hasText(one, text))
    // guard: search in comments
    if (match) return toPublished(match, postId, account, options)
    if (!isNoLongerInFlight(options, false, times)) return 'in-flight'
    // Its author may have edited the account's own comment, which no product shows.
    const couldBeSame = (one: GraphComment) => isOwn(one) || !hasDifferentWords(toText(one), text)
    return candidates.some(couldBeSame) ? 'undecidable' : 'absent'
  }

  async function loadPage(
    postId: string,
    after: string | undefined,
    account: Credentials,
    options: CallOptions,
  ): Promise<{ found: GraphComment[]; next: string | undefined }> {
    const params = { ...dialect.listed, limit: String(PAGE), after }
    try {
      const { data, paging } = await api.get(toPath(postId), params, readComments, toCall(account, options))
      return { found: data, next: data.length === 0 ? undefined : paging?.cursors?.after }
    } catch (error) {
      throw namePermission(error)
    }
  }

  async function toPublished(
    comment: GraphComment,
    postId: string,
    account: Credentials,
    options: CallOptions,
  ): Promise<Published> {
    return { platformPostId: comment.id, platformPostUrl: await dialect.fetchUrl(comment, postId, account, options) }
  }

  /** Names the missing permission and the login that grants it. Other errors are returned unchanged. */
  function namePermission(error: unknown): unknown {
    if (!isErrorClass(error, 'permission')) return error
    const message = `${api.label} did not allow the comment: it needs the permission ${dialect.permission}. Connect Facebook again and allow it`
    return new PlatformError('permission', message, {
      certain: error.certain,
      answered: error.answered,
      needsReconnection: true,
      cause: error,
    })
  }

  return { prepare, publish, reconcile }
}

/** Returns an adapter's steps, in which comments are no posts. */
export function withComments(posts: Steps, comments: Steps): Steps {
  const choose = ({ kind }: OutgoingPost) => (kind === 'comment' ? comments : posts)
  return {
    prepare: (post, ...rest) => choose(post).prepare(post, ...rest),
    publish: (post, ...rest) => choose(post).publish(post, ...rest),
    reconcile: (post, ...rest) => choose(post).reconcile(post, ...rest),
  }
}

/** Returns the id of the post that a comment is below. A comment is never the first part. */
const toPostId = ({ replyTo }: OutgoingPost): string => replyTo!.rootId

const toCall = ({ accessToken: token }: Credentials, { signal }: CallOptions) => ({ token, signal })

const toText = ({ message, text = '' }: GraphComment): string => message ?? text

const hasText = (comment: GraphComment, text: string): boolean =>
  normalizeWhitespace(toText(comment)) === normalizeWhitespace(text)
