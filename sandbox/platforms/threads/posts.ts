import sharp from 'sharp'
import type { SandboxResponse } from '../proxied-platform.ts'
import type { ContainerPost, ContainerStore } from '../shared/graph/container-store.ts'
import { selectFields } from '../shared/graph/fields.ts'
import {
  callerOf,
  GraphRefusal,
  noSuchObject,
  type GraphCall,
  type GraphModule,
  type GraphNode,
} from '../shared/graph/graph.ts'
import { graphTime, pageThrough } from '../shared/graph/lists.ts'
import { CONTAINER_RULES, hasPicture, readFilm } from '../shared/film.ts'
import { pullFile, type PulledFile } from '../shared/graph/pulled-files.ts'
import type { State } from './state.ts'
import { countLinks, textLength } from './text.ts'
import { ownAccount, requireScope, type Caller } from './tokens.ts'

interface PostsDeps {
  state: State
  store: ContainerStore
  base(): string
  /** Publications per account and day. */
  quota: { posts: number; replies: number }
}

type Call = GraphCall<Caller>

const MAX_TEXT = 500
const MAX_LINKS = 5
const MAX_ALT_TEXT = 1_000
const CAROUSEL = { min: 2, max: 20 }
const IMAGE = { types: ['image/jpeg', 'image/png'], maxBytes: 8_388_608, maxAspect: 10 }
const VIDEO = { types: ['video/mp4', 'video/quicktime'], maxBytes: 1_073_741_824, maxSeconds: 300 }
const READ_AS = { TEXT: 'TEXT_POST', IMAGE: 'IMAGE', VIDEO: 'VIDEO', CAROUSEL: 'CAROUSEL_ALBUM' }

/** Creates and publishes containers, and reads posts (docs/reference/platforms.md). */
export function createPosts({
  state,
  store,
  base,
  quota,
}: PostsDeps): GraphModule<Caller> & { addressOf(post: ContainerPost): string } {
  async function create(call: Call): Promise<SandboxResponse> {
    const { account } = ownAccount(call, 'threads_content_publish')
    const { params } = call
    const text = params.get('text') ?? ''
    assertText(text)
    const isChild = params.get('is_carousel_item') === 'true'
    const replyTo = params.get('reply_to_id')
    if (replyTo !== undefined) assertMayReply(replyTo, account.id)
    const reply = replyTo !== undefined && { replyTo }
    const details = readDetails(call)
    if (details['isShared'] === true) requireScope(callerOf(call), 'threads_share_to_instagram')
    const common = { accountId: account.id, text, isChild, children: [], file: null, problem: null, details, ...reply }
    const type = params.get('media_type')
    if (type !== 'TEXT' && params.get('poll_attachment') !== undefined) throw bad('Polls are for text posts only')
    switch (type) {
      case 'TEXT':
        if (isChild) throw bad('Text posts cannot be carousel items')
        if (text === '') throw bad('Param text is required for text posts')
        return makeContainer({ ...common, kind: 'TEXT' })
      case 'IMAGE':
      case 'VIDEO': {
        const pulled = await pull(type, params.get(type === 'IMAGE' ? 'image_url' : 'video_url'))
        const file = { ...pulled.file, altText: altTextOf(call) }
        return makeContainer({ ...common, kind: type, file, problem: pulled.problem })
      }
      case 'CAROUSEL':
        return makeContainer({ ...common, kind: 'CAROUSEL', children: childrenOf(call, account.id) })
      default:
        throw bad('Param media_type must be one of {TEXT, IMAGE, VIDEO, CAROUSEL}')
    }
  }

  /**
   * "You are the owner of the root thread post", or have another permission
   * (https://developers.facebook.com/documentation/threads/retrieve-and-manage-replies/create-replies, 22 December 2025).
   * @throws GraphRefusal
   */
  function assertMayReply(id: string, accountId: string): void {
    const parent = store.posts.get(id)
    if (!parent) throw noSuchObject(id, 'POST')
    if (rootOf(parent).accountId === accountId) return
    throw new GraphRefusal({ code: 10, message: 'Application does not have permission for this action' })
  }

  /** Returns the first post of a thread, as far as it still exists. */
  function rootOf(post: ContainerPost): ContainerPost {
    const parent = store.posts.get(post.replyTo ?? '')
    return parent ? rootOf(parent) : post
  }

  function makeContainer(fields: Parameters<ContainerStore['make']>[0]): SandboxResponse {
    return { status: 200, body: { id: store.make(fields).id } }
  }

  function childrenOf({ params }: Call, accountId: string): string[] {
    const ids = params.list('children')
    if (ids.length < CAROUSEL.min || ids.length > CAROUSEL.max) {
      throw bad(`Carousels take ${CAROUSEL.min} to ${CAROUSEL.max} children`)
    }
    for (const id of ids) {
      const child = store.find(id)
      if (child?.accountId !== accountId || !child.isChild || new Set(ids).size < ids.length) {
        throw bad(`Param children is invalid: ${id}`)
      }
      if (store.statusOf(child) !== 'FINISHED') throw notReady()
    }
    return ids
  }

  function publish(call: Call): SandboxResponse {
    const { account } = ownAccount(call, 'threads_content_publish')
    const container = store.find(call.params.get('creation_id') ?? '')
    if (container?.accountId !== account.id || container.isChild) throw notReady()
    const status = store.statusOf(container)
    if (status !== 'FINISHED' && status !== 'PUBLISHED') throw notReady()
    const { replyTo } = container
    if (replyTo !== undefined && !store.posts.get(replyTo)) throw noSuchObject(replyTo, call.method)
    const { posts, replies } = usageOf(account.id)
    if (replyTo === undefined ? posts.isUsedUp : replies.isUsedUp) {
      // The real code is undocumented.
      throw new GraphRefusal({ code: 100, type: 'THApiException', message: 'The publishing limit is reached.' })
    }
    const { id, details } = store.publish(container)
    // "When cross-sharing is enabled, the publish response includes the ... field", and the post is published even if it fails.
    const shared = details?.['isShared'] === true && {
      crossreshare_to_ig_status: account.isUnlinked ? 'FAILED' : 'SUCCESS',
    }
    return { status: 200, body: { id, ...shared } }
  }

  /** Replies have a quota of their own. */
  function usageOf(accountId: string) {
    const toUsage = (used: number, total: number) => ({
      used,
      isUsedUp: used >= total,
      config: { quota_total: total, quota_duration: 86_400 },
    })
    return {
      posts: toUsage(store.usedQuota(accountId), quota.posts),
      replies: toUsage(store.usedReplyQuota(accountId), quota.replies),
    }
  }

  /** The quota of replies needs another permission (retrieve-and-manage-replies, 21 March 2025). */
  /**
   * Needs threads_delete (https://developers.facebook.com/documentation/threads/delete-posts, 2025). A post that is not the caller's is treated
   * as missing.
   */
  function remove(call: Call): SandboxResponse {
    const caller = callerOf(call)
    requireScope(caller, 'threads_delete')
    const [id = ''] = call.ids
    const post = store.posts.get(id)
    if (post?.accountId !== caller.account.id) throw noSuchObject(id, call.method)
    store.posts.delete(id)
    return { status: 200, body: { success: true, deleted_id: id } }
  }

  function limit(call: Call): SandboxResponse {
    const { account, ...caller } = ownAccount(call, 'threads_content_publish')
    const { posts, replies } = usageOf(account.id)
    const asksReplies = (call.params.get('fields') ?? '').includes('reply_')
    if (asksReplies) requireScope({ account, ...caller }, 'threads_manage_replies')
    const ofReplies = { reply_quota_usage: replies.used, reply_config: replies.config }
    const entry = { quota_usage: posts.used, config: posts.config, ...(asksReplies && ofReplies) }
    return { status: 200, body: { data: [entry] } }
  }

  /** "threads_read_replies — Required for making GET calls to reply endpoints" (retrieve-and-manage-replies, 21 March 2025). */
  function listReplies(call: Call): SandboxResponse {
    const { account } = ownAccount(call, 'threads_read_replies')
    return pageThrough(store.repliesOf(account.id), call.params, (post) =>
      selectFields(postNode(post), call.params.get('fields')),
    )
  }

  function list(call: Call): SandboxResponse {
    const { account } = ownAccount(call, 'threads_basic')
    return pageThrough(store.postsOf(account.id), call.params, (post) =>
      selectFields(postNode(post), call.params.get('fields')),
    )
  }

  function addressOf({ accountId, shortcode }: ContainerPost): string {
    return `${base()}/@${state.accounts.get(accountId)!.username}/post/${shortcode}`
  }

  function postNode(post: ContainerPost): GraphNode {
    const { username } = state.accounts.get(post.accountId)!
    return {
      type: 'ThreadsMedia',
      byDefault: ['id'],
      fields: {
        id: post.id,
        text: post.text === '' ? undefined : post.text,
        timestamp: graphTime(post.createdAt),
        permalink: addressOf(post),
        shortcode: post.shortcode,
        media_type: post.isRepost ? 'REPOST_FACADE' : READ_AS[post.kind],
        media_product_type: 'THREADS',
        media_url: post.files[0]?.url,
        username,
        owner: { id: post.accountId },
        is_quote_post: false,
        is_reply: post.replyTo !== undefined,
        replied_to: post.replyTo === undefined ? undefined : { id: post.replyTo },
        reply_audience: 'EVERYONE',
        poll_attachment: undefined,
        topic_tag: undefined,
        link_attachment_url: undefined,
        ...post.details,
        isShared: undefined,
        root_post: post.replyTo === undefined ? undefined : { id: rootOf(post).id },
      },
    }
  }

  function accountNode({ id, username, name }: Caller['account']): GraphNode {
    return {
      type: 'ThreadsUser',
      byDefault: ['id'],
      fields: {
        id,
        username,
        name,
        threads_profile_picture_url: `${base()}/picture/${id}`,
        threads_biography: '',
        is_verified: false,
      },
    }
  }

  return {
    addressOf,
    routes: [
      ['POST', /^\/(\d+)\/threads$/, create],
      ['GET', /^\/(\d+)\/threads$/, list],
      ['GET', /^\/(\d+)\/replies$/, listReplies],
      ['POST', /^\/(\d+)\/threads_publish$/, publish],
      ['DELETE', /^\/(\d+)$/, remove],
      ['GET', /^\/(\d+)\/threads_publishing_limit$/, limit],
    ],

    node(id, call) {
      const caller = callerOf(call)
      requireScope(caller, 'threads_basic')
      if (id === caller.account.id) return accountNode(caller.account)
      const post = store.posts.get(id)
      if (post) return post.accountId === caller.account.id ? postNode(post) : null
      const container = store.find(id)
      if (container?.accountId !== caller.account.id) return null
      const status = store.statusOf(container)
      const problem = status === 'ERROR' ? container.problem : undefined
      const shown = container.isSilent ? undefined : status
      return {
        type: 'ThreadsMedia',
        byDefault: ['id', 'status'],
        fields: { id, status: shown, error_message: problem },
      }
    },
  }
}

function assertText(text: string): void {
  if (textLength(text) > MAX_TEXT) throw bad(`Param text must be at most ${MAX_TEXT} characters long.`)
  if (countLinks(text) > MAX_LINKS) throw bad('THREADS_API__LINK_LIMIT_EXCEEDED')
}

const REPLY_CONTROLS = [
  'everyone',
  'accounts_you_follow',
  'mentioned_only',
  'parent_post_author_only',
  'followers_only',
]
const POLL = { options: ['option_a', 'option_b', 'option_c', 'option_d'], required: 2, length: 25 }

/** Reads what a post has besides text and media, as fields of its node. */
function readDetails({ params }: Call): Record<string, unknown> {
  const [control, tag] = [params.get('reply_control'), params.get('topic_tag')]
  if (control !== undefined && !REPLY_CONTROLS.includes(control)) {
    throw bad(`Param reply_control must be one of {${REPLY_CONTROLS.join(', ')}}`)
  }
  // "1 to 50 characters", without "periods (.) and ampersands (&)" (https://developers.facebook.com/docs/threads/posts, 2025).
  if (tag !== undefined && !/^[^.&]{1,50}$/su.test(tag)) throw bad('Param topic_tag is invalid')
  // https://developers.facebook.com/documentation/threads/create-posts/share-to-ig-stories, 2 July 2026.
  const share = params.get('crossreshare_to_ig')
  if (share !== undefined && !['true', 'false'].includes(share)) throw bad('Param crossreshare_to_ig must be a boolean')
  const poll = params.get('poll_attachment')
  const link = params.get('link_attachment')
  if (link !== undefined && params.get('media_type') !== 'TEXT') throw bad('link_attachment is for text posts only')
  return {
    ...(control !== undefined && { reply_audience: control.toUpperCase() }),
    ...(tag !== undefined && { topic_tag: tag }),
    ...(poll !== undefined && { poll_attachment: readPoll(poll) }),
    ...(link !== undefined && { link_attachment_url: link }),
    ...(share === 'true' && { isShared: true }),
  }
}

/** "At least 2 options and no more than 4", each of 1 to 25 characters (https://developers.facebook.com/docs/threads/create-posts/polls, 2025). */
function readPoll(text: string): Record<string, string> {
  let poll: unknown
  try {
    poll = JSON.parse(text)
  } catch {
    throw bad('Param poll_attachment must be an object')
  }
  const entries = Object.entries((poll ?? {}) as Record<string, unknown>)
  const names = POLL.options.slice(0, Math.max(entries.length, POLL.required))
  const isGood = entries.length <= POLL.options.length && names.every((name) => entries.some(([own]) => own === name))
  const isShort = (option: unknown) => typeof option === 'string' && option !== '' && textLength(option) <= POLL.length
  if (!isGood || !entries.every(([, option]) => isShort(option))) throw bad('Param poll_attachment is invalid')
  return poll as Record<string, string>
}

function altTextOf({ params }: Call): string {
  const altText = params.get('alt_text') ?? ''
  if ([...altText].length > MAX_ALT_TEXT) throw bad(`Param alt_text must be at most ${MAX_ALT_TEXT} characters long.`)
  return altText
}

/** A file that cannot be fetched is refused immediately; an unusable one fails during processing. */
async function pull(kind: 'IMAGE' | 'VIDEO', url: string | undefined) {
  if (url === undefined) throw bad(`Param ${kind.toLowerCase()}_url is required`)
  const found = await pullFile(url)
  if (!found) {
    throw new GraphRefusal({
      code: 1,
      subcode: 2_207_052,
      message: 'The media could not be fetched from this URI.',
      userTitle: 'Only photo or video can be accepted as media type.',
    })
  }
  const { mimeType, sizeBytes, bytes } = found
  const file = { url, mimeType }
  const { types, maxBytes } = kind === 'IMAGE' ? IMAGE : VIDEO
  const isGood = types.includes(mimeType) && sizeBytes <= maxBytes
  if (kind === 'VIDEO') return { file, problem: isGood ? findVideoProblem(found) : 'FAILED_PROCESSING_VIDEO' }
  if (!isGood) return { file, problem: 'UNKNOWN' }
  const { width, height } = await sharp(bytes).metadata()
  return { file, problem: Math.max(width / height, height / width) > IMAGE.maxAspect ? 'INVALID_ASPEC_RATIO' : null }
}

/** https://developers.facebook.com/documentation/threads/overview, media specifications, 22 December 2025. */
function findVideoProblem({ bytes, sizeBytes }: PulledFile): string | null {
  const film = readFilm(bytes, sizeBytes)
  if (!hasPicture(film) || !CONTAINER_RULES.isIndexFirst(film) || !CONTAINER_RULES.hasWidth(film))
    return 'FAILED_PROCESSING_VIDEO'
  if (!CONTAINER_RULES.hasFrameRate(film)) return 'INVALID_FRAME_RATE'
  return film.duration > 0 && film.duration <= VIDEO.maxSeconds ? null : 'INVALID_DURATION'
}

function notReady(): GraphRefusal {
  return new GraphRefusal({
    code: 24,
    subcode: 4_279_009,
    message: 'The requested resource does not exist',
    userTitle: 'Media Not Found',
    userMessage: 'The media with id cannot be found.',
  })
}

function bad(message: string): GraphRefusal {
  return new GraphRefusal({ code: 100, type: 'THApiException', message })
}
