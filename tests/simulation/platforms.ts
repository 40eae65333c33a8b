import type { LedgerRecord } from '../faults/judge/evidence.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'

/** A call as it reaches a platform. */
export interface PlatformCall {
  method: string
  url: URL
  headers: Record<string, string>
  body: string
}

export interface PlatformAnswer {
  status: number
  body: unknown
}

/** A platform in memory: the calls that the delivery of a text makes, with what the public sees afterwards. */
export interface SimulatedPlatform {
  platform: Platform
  origin: string
  handle(call: PlatformCall): PlatformAnswer
  /** The text of a call that makes a post visible; undefined for other calls. */
  textOf(call: PlatformCall): string | undefined
  ledger(): LedgerRecord[]
  /** The answer with the platform's own error body. */
  refuse(status: number): PlatformAnswer
  /** How long after its arrival an unanswered call may take effect, milliseconds: what the adapter may rely on. */
  maxLateMs: number
}

const MINUTE = 60_000
/** Below the 10 minutes that an adapter allows for an unanswered call. */
const UNANSWERED_MS = 9 * MINUTE

const ok = (body: unknown): PlatformAnswer => ({ status: 200, body })
const fieldsOf = ({ body }: PlatformCall) => new URLSearchParams(body)
const jsonOf = ({ body }: PlatformCall) => JSON.parse(body) as Record<string, unknown>
const match = ({ method, url }: PlatformCall, expected: string, path: RegExp) =>
  method === expected ? path.exec(url.pathname) : null

interface BlueskyRecord {
  text: string
  reply?: { parent: { uri: string } }
}

/** Writes under the key of the caller: the same record again changes nothing, another one is refused. */
export function createBluesky(origin: string): SimulatedPlatform {
  const records = new Map<string, { uri: string; account: string; value: BlueskyRecord }>()
  const refuse = (status: number, error = 'InternalServerError') => ({ status, body: { error, message: error } })
  const put = /\/com\.atproto\.repo\.putRecord$/
  return {
    platform: 'bluesky',
    origin,
    maxLateMs: UNANSWERED_MS,
    refuse,
    handle(call) {
      if (match(call, 'POST', put)) {
        const { repo, collection, rkey, record } = jsonOf(call) as Record<string, string> & { record: BlueskyRecord }
        const uri = `at://${repo}/${collection}/${rkey}`
        const known = records.get(uri)
        if (known && JSON.stringify(known.value) !== JSON.stringify(record)) return refuse(400, 'InvalidSwap')
        records.set(uri, { uri, account: repo!, value: record })
        return ok({ uri, cid: 'cid' })
      }
      if (match(call, 'GET', /\/com\.atproto\.repo\.getRecord$/)) {
        const { repo, collection, rkey } = Object.fromEntries(call.url.searchParams)
        const found = records.get(`at://${repo}/${collection}/${rkey}`)
        return found ? ok({ uri: found.uri, cid: 'cid', value: found.value }) : refuse(400, 'RecordNotFound')
      }
      return refuse(404, 'MethodNotImplemented')
    },
    textOf: (call) => (match(call, 'POST', put) ? (jsonOf(call)['record'] as { text: string }).text : undefined),
    ledger: () =>
      [...records.values()].map(({ uri, account, value: { text, reply } }) => ({
        ...{ id: uri, account, text },
        ...(reply && { replyTo: reply.parent.uri }),
      })),
  }
}

/** @param honoursKeys whether a repeat with the same `Idempotency-Key` publishes nothing */
export function createMastodon(origin: string, { honoursKeys }: { honoursKeys: boolean }): SimulatedPlatform {
  const statuses: (LedgerRecord & { createdAt: number })[] = []
  const byKey = new Map<string, string>()
  const refuse = (status: number) => ({ status, body: { error: 'refused' } })
  const show = ({
    id,
    text,
    createdAt,
    replyTo = null,
  }: Omit<(typeof statuses)[number], 'replyTo'> & { replyTo?: string | null }) => ({
    id,
    in_reply_to_id: replyTo,
    created_at: new Date(createdAt).toISOString(),
    edited_at: null,
    content: `<p>${text}</p>`,
    url: `${origin}/@someone/${id}`,
    application: { name: 'postonce' },
    media_attachments: [],
  })
  const accountOf = ({ headers }: PlatformCall) => headers['authorization']!.replace('Bearer token-of-', '')
  const publish = /^\/api\/v1\/statuses$/
  return {
    platform: 'mastodon',
    origin,
    maxLateMs: UNANSWERED_MS,
    refuse,
    handle(call) {
      if (match(call, 'GET', /^\/api\/v2\/instance$/)) {
        return ok({ version: honoursKeys ? '4.5.0' : '0.19.1+git', configuration: {} })
      }
      if (match(call, 'GET', /^\/api\/v1\/apps\/verify_credentials$/)) return ok({ name: 'postonce' })
      if (match(call, 'POST', publish)) {
        const key = call.headers['idempotency-key']!
        const known = honoursKeys ? statuses.find(({ id }) => id === byKey.get(key)) : undefined
        if (known) return ok(show(known))
        const { status: text, in_reply_to_id: replyTo } = jsonOf(call) as { status: string; in_reply_to_id?: string }
        if (replyTo !== undefined && !statuses.some(({ id }) => id === replyTo)) return refuse(404)
        const status = {
          ...{ id: String(1_000 + statuses.length), text, account: accountOf(call), createdAt: Date.now() },
          ...(replyTo !== undefined && { replyTo }),
        }
        statuses.push(status)
        byKey.set(key, status.id)
        return ok(show(status))
      }
      const one = match(call, 'GET', /^\/api\/v1\/statuses\/(\w+)$/)
      if (one) {
        const found = statuses.find(({ id }) => id === one[1])
        return found ? ok(show(found)) : refuse(404)
      }
      const source = match(call, 'GET', /^\/api\/v1\/statuses\/(\w+)\/source$/)
      if (source) {
        const found = statuses.find(({ id }) => id === source[1])
        return found ? ok({ id: found.id, text: found.text }) : refuse(404)
      }
      const list = match(call, 'GET', /^\/api\/v1\/accounts\/([^/]+)\/statuses$/)
      if (list) {
        const before = Number(call.url.searchParams.get('max_id') ?? Infinity)
        const own = statuses.filter(({ id, account }) => account === list[1] && Number(id) < before)
        return ok(own.toReversed().slice(0, 40).map(show))
      }
      return refuse(404)
    },
    textOf: (call) => (match(call, 'POST', publish) ? (jsonOf(call)['status'] as string) : undefined),
    ledger: () => statuses,
  }
}

/** Publishes drafts. A published draft is gone, and its post names it. */
export function createTumblr(origin: string): SimulatedPlatform {
  const drafts = new Map<string, { id: string; account: string; text: string }>()
  const posts: { id: string; account: string; text: string; draft: string }[] = []
  let created = 0
  const answer = (status: number, response: unknown = {}) => ({
    status,
    body: { meta: { status, msg: 'x' }, response },
  })
  const textIn = (call: PlatformCall) =>
    (jsonOf(call)['content'] as { text?: string }[]).map(({ text = '' }) => text).join('\n\n')
  const publish = /^\/v2\/blog\/[^/]+\/posts\/(\d+)$/
  return {
    platform: 'tumblr',
    origin,
    maxLateMs: UNANSWERED_MS,
    refuse: (status) => answer(status),
    handle(call) {
      const account = decodeURIComponent(/^\/v2\/blog\/([^/]+)/.exec(call.url.pathname)?.[1] ?? '')
      if (match(call, 'POST', /\/posts$/)) {
        const id = String(100 + created++)
        drafts.set(id, { id, account, text: textIn(call) })
        return answer(201, { id })
      }
      const published = match(call, 'PUT', publish)
      if (published) {
        const draft = drafts.get(published[1]!)
        if (!draft) return answer(404)
        drafts.delete(draft.id)
        const id = String(5_000 + created++)
        posts.push({ id, account, text: textIn(call), draft: draft.id })
        return answer(200, { id })
      }
      if (match(call, 'GET', /\/posts\/draft$/)) {
        const before = Number(call.url.searchParams.get('before_id') ?? Infinity)
        const own = [...drafts.values()].filter((one) => one.account === account && Number(one.id) < before)
        return answer(200, { posts: own.toReversed().map(({ id }) => ({ id_string: id })) })
      }
      if (match(call, 'GET', /\/posts$/)) {
        const offset = Number(call.url.searchParams.get('offset'))
        const own = posts.filter((one) => one.account === account).toReversed()
        const page = own.slice(offset, offset + 20)
        return answer(200, { posts: page.map(({ id, draft }) => ({ id_string: id, genesis_post_id: draft })) })
      }
      if (match(call, 'POST', /\/post\/delete$/)) {
        const isThere = drafts.delete(fieldsOf(call).get('id') ?? '')
        return answer(isThere ? 200 : 404)
      }
      return answer(404)
    },
    textOf: (call) => (match(call, 'PUT', publish) ? textIn(call) : undefined),
    ledger: () => posts,
  }
}

/** The error for something that does not exist, or for a temporary problem. */
const graphError = (status: number) => {
  const codes = status === 404 ? { code: 100, error_subcode: 33 } : { code: 2 }
  return { status, body: { error: { message: 'refused', type: 'OAuthException', ...codes } } }
}

/** Publishes containers. One that is published again becomes a second post, which is the worst that the platform may do. */
export function createThreads(origin: string): SimulatedPlatform {
  const containers = new Map<string, { id: string; account: string; text: string; isPublished: boolean }>()
  const posts: { id: string; account: string; text: string; createdAt: number }[] = []
  let created = 0
  const containerOf = (call: PlatformCall) => containers.get(fieldsOf(call).get('creation_id') ?? '')
  const publish = /^\/v1\.0\/[^/]+\/threads_publish$/
  return {
    platform: 'threads',
    origin,
    // The adapter relies on 30 s.
    maxLateMs: 25_000,
    refuse: graphError,
    handle(call) {
      const [, account = ''] = /^\/v1\.0\/([^/]+)/.exec(call.url.pathname) ?? []
      if (match(call, 'POST', publish)) {
        const container = containerOf(call)
        if (!container) return { status: 400, body: { error: { message: 'gone', type: 'OAuthException', code: 24 } } }
        container.isPublished = true
        const post = { id: String(7_000 + created++), account, text: container.text, createdAt: Date.now() }
        posts.push(post)
        return ok({ id: post.id })
      }
      if (match(call, 'POST', /\/threads$/)) {
        const id = String(created++)
        containers.set(id, { id, account, text: fieldsOf(call).get('text') ?? '', isPublished: false })
        return ok({ id })
      }
      if (match(call, 'GET', /\/threads$/)) {
        const own = posts.filter((one) => one.account === account).toReversed()
        const data = own.map(({ id, text, createdAt }) => ({
          id,
          text,
          timestamp: new Date(createdAt).toISOString(),
          media_type: 'TEXT_POST',
          permalink: `${origin}/@someone/post/${id}`,
        }))
        return ok({ data })
      }
      if (match(call, 'GET', /\/threads_publishing_limit$/)) {
        return ok({ data: [{ quota_usage: posts.length, config: { quota_total: 250 } }] })
      }
      const container = containers.get(account)
      if (container) return ok({ id: account, status: container.isPublished ? 'PUBLISHED' : 'FINISHED' })
      return posts.some(({ id }) => id === account)
        ? ok({ id: account, permalink: `${origin}/@someone/post/${account}` })
        : graphError(404)
    },
    textOf: (call) => (match(call, 'POST', publish) ? (containerOf(call)?.text ?? '') : undefined),
    ledger: () => posts,
  }
}

/** Publishes drafts under the ids that they have. The page of one user refuses them: there, a call publishes immediately. */
export function createFacebook(origin: string, { withoutDrafts }: { withoutDrafts: string }): SimulatedPlatform {
  interface PagePost {
    id: string
    account: string
    text: string
    createdAt: number
    publishedAt: number | null
  }
  const posts = new Map<string, PagePost>()
  let created = 0
  const create = /\/feed$/
  const one = /^\/v[\d.]+\/([^/]+_\d+)$/
  const show = ({ id, text, createdAt, publishedAt }: PagePost) => ({
    id,
    message: text,
    is_published: publishedAt !== null,
    created_time: new Date(createdAt).toISOString(),
    updated_time: new Date(publishedAt ?? createdAt).toISOString(),
    permalink_url: `${origin}/${id}`,
  })
  const refuse = (status: number, code: number, subcode?: number) => ({
    status,
    body: { error: { message: 'refused', type: 'OAuthException', code, ...(subcode && { error_subcode: subcode }) } },
  })
  const published = () => [...posts.values()].filter(({ publishedAt }) => publishedAt !== null)
  const find = (call: PlatformCall) => posts.get(decodeURIComponent(one.exec(call.url.pathname)?.[1] ?? ''))
  const isDraft = (call: PlatformCall) => fieldsOf(call).get('published') === 'false'
  return {
    platform: 'facebook',
    origin,
    maxLateMs: UNANSWERED_MS,
    refuse: graphError,
    handle(call) {
      const [, account = ''] = /^\/v[\d.]+\/([^/]+)/.exec(call.url.pathname) ?? []
      if (match(call, 'POST', create)) {
        if (isDraft(call) && account === withoutDrafts) return refuse(403, 200)
        const now = Date.now()
        const post = {
          id: `${account}_${9_000 + created++}`,
          account,
          text: fieldsOf(call).get('message') ?? '',
          createdAt: now,
          publishedAt: isDraft(call) ? null : now,
        }
        posts.set(post.id, post)
        return ok(show(post))
      }
      if (match(call, 'GET', /\/published_posts$/)) {
        const own = published().filter((post) => post.account === account)
        return ok({ data: own.toReversed().map(show) })
      }
      const post = find(call)
      if (!post) return refuse(400, 100, 33)
      if (call.method === 'GET') return ok(show(post))
      if (call.method === 'DELETE') posts.delete(post.id)
      else post.publishedAt ??= Date.now()
      return ok({ success: true })
    },
    textOf(call) {
      if (match(call, 'POST', create)) return isDraft(call) ? undefined : (fieldsOf(call).get('message') ?? '')
      return call.method === 'POST' ? find(call)?.text : undefined
    },
    ledger: published,
  }
}
