import { randomBytes, randomUUID } from 'node:crypto'
import sharp, { type Sharp } from 'sharp'
import { inject } from 'vitest'
import type { Bluesky, BlueskyAccount } from '../../../sandbox/platforms/bluesky.ts'
import type { LedgerEntry, LoggedRequest } from '../../../sandbox/platforms/proxied-platform.ts'
import type { Fault } from '../../../sandbox/platforms/faults.ts'
import {
  afterAccept,
  FOREIGN_RESPONSES,
  insteadOf,
  type ForeignResponseName,
} from '../../../sandbox/platforms/foreign-responses.ts'
import type { MediaItem } from '../../../src/domain/posts/post.ts'
import { createMediaSource } from '../../../src/integrations/storage/media-source.ts'
import { readVideo } from '../../../src/integrations/storage/read-video.ts'
import { createObjectStorage } from '../../../src/integrations/storage/storage.ts'
import type {
  Credentials,
  DeliveryCheckpoints,
  MediaSource,
  OutgoingPost,
  PlatformFacts,
  SearchOptions,
  ServerApplication,
  ServerApplications,
} from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'

/** At most 18 characters before `.test`, the server's limit. */
export function newHandle(): string {
  return `u${randomBytes(6).toString('hex')}.test`
}

/** The checkpoints of a delivery in a map. */
export function newDelivery(startedAt = new Date()): DeliveryCheckpoints & { handles: Map<string, string> } {
  const handles = new Map<string, string>()
  return {
    key: randomUUID(),
    dueAt: startedAt,
    startedAt,
    isRepeat: false,
    handles,
    get: (name) => handles.get(name),
    save: async (name, value) => void handles.set(name, value),
  }
}

export function newPost(text: string, mediaItems: MediaItem[] = []): OutgoingPost {
  return { postId: randomUUID(), kind: 'post', options: {}, content: { text, mediaItems } }
}

/** Media in memory, by storage key. */
export function memoryMedia() {
  const files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; mimeType: string }>()
  const opened: string[] = []
  const media: MediaSource = {
    async open(item) {
      opened.push(item.storageKey)
      const { bytes, mimeType } = files.get(item.storageKey)!
      const opening = { stream: new Blob([bytes]).stream(), sizeBytes: bytes.length, mimeType }
      if (!mimeType.startsWith('video/')) return opening
      const part = async (start: number, end: number) => bytes.slice(start, end)
      const file = { sizeBytes: bytes.length, read: part }
      const read = await readVideo(file, { mimeType, sizeBytes: bytes.length }, AbortSignal.timeout(20_000))
      const { width, height } = read.state === 'readable' ? read.facts : {}
      return { ...opening, ...(width !== undefined && height !== undefined && { width, height }) }
    },
    publicUrl: () => Promise.reject(new Error('These media have no public address; use storedMedia()')),
    storeCopy: () => Promise.reject(new Error('These media have no public address; use storedMedia()')),
  }
  function add(bytes: Uint8Array<ArrayBuffer>, mimeType: string, altText?: string): MediaItem {
    const storageKey = randomUUID()
    files.set(storageKey, { bytes, mimeType })
    return { storageKey, storageUrl: '', mimeType, ...(altText !== undefined && { altText }) }
  }
  return { media, add, opened }
}

/**
 * Media in a bucket of the real S3 gateway, for platforms that fetch files. `opened` has the keys that the adapter
 * read, `copies` the URLs of its copies. Close it in `afterAll`.
 */
export async function storedMedia() {
  const { s3 } = inject('servers')
  const bucket = `media-${randomUUID()}`
  const storage = createObjectStorage({ ...s3, region: 'us-east-1', bucket, publicUrl: `${s3.endpoint}/${bucket}` })
  await storage.ensureBucket(['https://app.example'])
  const source = createMediaSource(storage)
  const opened: string[] = []
  const copies: string[] = []
  const media: MediaSource = {
    ...source,
    open(item, options) {
      opened.push(item.storageKey)
      return source.open(item, options)
    },
    async storeCopy(item, copy, options) {
      const address = await source.storeCopy(item, copy, options)
      copies.push(address)
      return address
    },
  }
  async function add(bytes: Uint8Array, mimeType: string, altText?: string): Promise<MediaItem> {
    const storageKey = `posts/${randomUUID()}/${randomUUID()}`
    await storage.put({ key: storageKey, body: bytes, contentType: mimeType })
    const storageUrl = storage.publicUrl(storageKey)
    return { storageKey, storageUrl, mimeType, ...(altText !== undefined && { altText }) }
  }
  return { media, add, opened, copies, close: () => storage.close() }
}

export function withVersion(credentials: Omit<Credentials, 'version'>): Credentials {
  return { ...credentials, version: 1 }
}

/** Returns the error; fails when there is none or it is of another kind. */
export async function platformErrorOf(work: Promise<unknown>): Promise<PlatformError> {
  try {
    await work
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
  throw new Error('It did not fail')
}

/** Stored facts in a map. */
export function memoryFacts(facts = new Map<string, string>()): PlatformFacts & { facts: Map<string, string> } {
  return {
    facts,
    find: async (name) => facts.get(name) ?? null,
    save: async (name, value) => void facts.set(name, value),
  }
}

/** Stored applications in a map. */
export function memoryApplications(stored = new Map<string, ServerApplication>()) {
  const applications: ServerApplications = {
    find: async (name) => stored.get(name) ?? null,
    async add(name, application) {
      if (!stored.has(name)) stored.set(name, application)
      return stored.get(name)!
    },
    async remove(name, clientId) {
      if (stored.get(name)?.clientId === clientId) stored.delete(name)
    },
  }
  return { ...applications, stored }
}

/** Search options for a call that got its response and is no longer in flight. */
export const searchOptions = (overrides: Partial<SearchOptions> = {}): SearchOptions => ({
  signal: AbortSignal.timeout(20_000),
  calledAt: new Date(Date.now() - 60_000),
  wasAnswered: true,
  isRestored: false,
  isTaken: async () => false,
  ...overrides,
})

export const picture = (width: number, height: number, background = 'teal') =>
  sharp({ create: { width, height, channels: 3, background } })
export const bytesOf = async (image: Sharp) => new Uint8Array(await image.toBuffer())

const FOREIGN = Object.keys(FOREIGN_RESPONSES) as ForeignResponseName[]

/** Faults that lose the response of a processed call. */
export const LOST_RESPONSES: [string, Fault['action']][] = [
  ['the connection breaks', { dropAfterAccept: true }],
  ['the answer is cut off', { truncate: true }],
  ['the answer has no end of waiting', { holdAfterAccept: true }],
  ['a proxy answers 500', { statusAfterAccept: 500, body: 'Internal Server Error' }],
  ...FOREIGN.map((name): [string, Fault['action']] => [`a proxy answers ${name}`, afterAccept(name)]),
]
/** Faults that lose a call before the server. */
export const LOST_CALLS: [string, Fault['action']][] = [
  ['it hangs', { hang: true }],
  ['the connection breaks', { cut: true }],
  ...FOREIGN.map((name): [string, Fault['action']] => [`a proxy answers ${name}`, insteadOf(name)]),
]

/** The control interface of a sandbox platform. */
export function controlOf({ control }: Pick<Bluesky, 'control'>) {
  const json = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const response = await fetch(`${control}${path}`, init)
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()) as T
  }
  const send = (path: string, body?: unknown) =>
    json(path, { method: 'POST', ...(body !== undefined && { body: JSON.stringify(body) }) })
  return {
    ledger: () => json<LedgerEntry[]>('/ledger'),
    requests: () => json<LoggedRequest[]>('/requests'),
    addFault: (fault: Fault) => send('/faults', fault),
    clearFaults: () => json('/faults', { method: 'DELETE' }),
    revoke: (account: string) => send(`/accounts/${account}/revoke`),
    expire: (account: string) => send(`/accounts/${account}/expire`),
    deletePost: (id: string) => send(`/posts/${encodeURIComponent(id)}/delete`),
    publishElsewhere: (account: string, text: string) =>
      send(`/accounts/${encodeURIComponent(account)}/posts`, { text }),
    setMetrics: (id: string, metrics: Record<string, number>) =>
      send(`/posts/${encodeURIComponent(id)}/metrics`, metrics),
    setAccountMetrics: (account: string, metrics: Record<string, number>) =>
      send(`/accounts/${encodeURIComponent(account)}/metrics`, metrics),
  }
}

/** Returns a function that calls the Bluesky server's API directly, without our service. */
export function xrpcOf(url: string) {
  return async function call<T>(
    nsid: string,
    { query = {}, body, token }: { query?: Record<string, string>; body?: unknown; token?: string } = {},
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${url}/xrpc/${nsid}?${new URLSearchParams(query)}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as T }
  }
}

export interface PostRecordView {
  uri: string
  cid: string
  value: {
    text: string
    createdAt: string
    facets?: { index: { byteStart: number; byteEnd: number }; features: Record<string, string>[] }[]
    embed?: {
      images: { alt: string; image: { mimeType: string; size: number; ref: { $link: string } }; aspectRatio: object }[]
    }
  }
}

/** The public view of an account's posts. */
export async function postsOf(url: string, { did }: Pick<BlueskyAccount, 'did'>): Promise<PostRecordView[]> {
  const query = { repo: did, collection: 'app.bsky.feed.post', limit: '100' }
  return (await xrpcOf(url)<{ records: PostRecordView[] }>('com.atproto.repo.listRecords', { query })).body.records
}
