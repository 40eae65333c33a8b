import { LRUCache } from 'lru-cache'
import type { Content, MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, MediaSource, OutgoingPost, PreparationLog } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { ignoreAnswer, json } from '../shared/calls.ts'
import { loadImage, warmUpImages } from '../shared/image-files.ts'
import { multipart, textPart } from '../shared/multipart.ts'
import { assertPostable } from '../shared/postable.ts'
import { lostMedia, whenProcessed } from '../shared/processing.ts'
import { readCreated, readPost } from './responses.ts'
import { tokenOf } from './accounts.ts'
import { blogPath, type Api } from './api.ts'
import {
  formatText,
  mediaBlock,
  postBody,
  uploadedMedia,
  type FormattedText,
  type MediaBlock,
  type MediaObject,
} from './content.ts'
import { isRefusedAs } from '../shared/refusals.ts'

interface DraftDeps {
  api: Api
  /** Apart from `api`, so that uploads never keep a visible call from its connection. */
  uploads: Api
  media: MediaSource
  /** How long one look waits for the server's work on a video. */
  processingWaitMs: number
}

/** What goes into the upload of one file. */
interface FilePlan {
  mimeType: string
  sizeBytes: number
  width?: number
  height?: number
  open(): Promise<Uint8Array | AsyncIterable<Uint8Array>>
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif']
/** Formatted texts in memory, in UTF-16 units of the texts. */
const CACHED_LENGTH = 2_000_000
const UPLOAD_TIMEOUT_MS = 10 * MINUTE
const REMOVE_TIMEOUT_MS = 5 * SECOND
/** The names of handles: the draft's id, and what Tumblr calls the files that went along with it. */
const DRAFT = 'draft'
const MEDIA = 'media'

/**
 * Drafts, which nobody but the author sees (platforms.md 7e): made ahead with everything in them, and published by one call. What
 * that call says again of images and videos is in Tumblr's own words, so that nothing is uploaded twice.
 */
export function createDrafts({ api, uploads, media, processingWaitMs }: DraftDeps) {
  const cache = new LRUCache<string, FormattedText>({
    maxSize: CACHED_LENGTH,
    sizeCalculation: (_, text) => text.length + 1,
  })

  /** The visible call says again what the draft was made with: formatting a long text must not delay it, or posts of other users. */
  function formatted(text: string): FormattedText {
    const known = cache.get(text) ?? formatText(text)
    cache.set(text, known)
    return known
  }

  async function prepare(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    const { content } = post
    assertPostable('tumblr', content, POSTING_RULES.tumblr)
    if (!log.handle(DRAFT)) {
      const id = await create(content, account, options)
      await keep(id, account, log)
    }
    if (content.mediaItems.length > 0 && !log.handle(MEDIA)) {
      await log.save(MEDIA, JSON.stringify(await awaitMedia(content, account, log, options)))
    }
    api.warm()
  }

  async function create(content: Content, account: Credentials, { signal }: CallOptions): Promise<string> {
    const plans: FilePlan[] = []
    for (const item of content.mediaItems) plans.push(await planOf(item, { signal }))
    const blocks = content.mediaItems.map((item, index) => {
      const { mimeType, width, height } = plans[index]!
      const size = width !== undefined && height !== undefined && { width, height }
      return blockOf(item, { type: mimeType, identifier: identifierOf(index), ...size })
    })
    const draft = postBody(formatted(content.text), blocks, 'draft')
    const [to, body] = plans.length === 0 ? [api, json(draft)] : [uploads, upload(draft, plans)]
    const call = { method: 'POST', path: blogPath(account, 'posts'), body } as const
    const timeoutMs = plans.length === 0 ? undefined : UPLOAD_TIMEOUT_MS
    const options = { token: tokenOf(account), signal, ...(timeoutMs !== undefined && { timeoutMs }) }
    return (await to.send(call, readCreated, options)).id
  }

  /** When it cannot be kept in mind it must not stay: nobody would ever publish it, or take it away. */
  async function keep(id: string, account: Credentials, log: PreparationLog): Promise<void> {
    try {
      await log.save(DRAFT, id)
    } catch (error) {
      await remove(id, account, { signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) }).catch(() => undefined)
      throw error
    }
  }

  async function remove(id: string, account: Credentials, { signal }: CallOptions): Promise<void> {
    const call = { method: 'POST', path: blogPath(account, 'post/delete'), fields: { id } } as const
    await api.send(call, ignoreAnswer, { token: tokenOf(account), signal }).catch((error: unknown) => {
      if (!isRefusedAs(error, 'missing')) throw error
    })
  }

  /** Of an image its size is known only once it is as Tumblr takes it; it is made so again when its turn comes, rather than kept. */
  async function planOf(item: MediaItem, options: CallOptions): Promise<FilePlan> {
    if (toMediaKind(item.mimeType) === 'video') return videoPlan(item, options)
    const { maxBytes } = POSTING_RULES.tumblr.media.image
    const convert = () => loadImage(media, item, { maxBytes, types: IMAGE_TYPES }, options)
    const { bytes, ...image } = await convert()
    return { ...image, sizeBytes: bytes.length, open: async () => (await convert()).bytes }
  }

  async function videoPlan(item: MediaItem, options: CallOptions): Promise<FilePlan> {
    const { stream, sizeBytes, mimeType } = await media.open(item, options)
    await stream.cancel()
    if (sizeBytes > POSTING_RULES.tumblr.media.video.maxBytes) {
      throw new PlatformError('validation', 'The video is larger than Tumblr takes', { certain: true })
    }
    const { width, height } = item
    const size = width !== undefined && height !== undefined && { width, height }
    return { mimeType, sizeBytes, ...size, open: async () => (await media.open(item, options)).stream }
  }

  async function awaitMedia(
    content: Content,
    account: Credentials,
    log: PreparationLog,
    { signal }: CallOptions,
  ): Promise<MediaObject[]> {
    const look = () => lookAtMedia(content, account, log, { signal })
    return whenProcessed(look, { label: 'Tumblr', waitMs: processingWaitMs, signal })
  }

  /** Null while the server works on it. */
  async function lookAtMedia(
    { mediaItems }: Content,
    account: Credentials,
    log: PreparationLog,
    { signal }: CallOptions,
  ): Promise<MediaObject[] | null> {
    const path = blogPath(account, `posts/${encodeURIComponent(log.handle(DRAFT)!)}`)
    try {
      const draft = await api.send({ method: 'GET', path }, readPost, { token: tokenOf(account), signal })
      return uploadedMedia(draft, mediaItems.length)
    } catch (error) {
      if (!isRefusedAs(error, 'missing')) throw error
      await log.save(DRAFT, '')
      throw lostMedia('Tumblr no longer has the draft, so it is made again', error)
    }
  }

  return {
    prepare,

    /** The draft and the content to publish it with; @throws PlatformError when it was not prepared. */
    prepared({ content }: OutgoingPost, log: PreparationLog): { id: string; body: object } {
      const id = log.handle(DRAFT)
      const media = JSON.parse(log.handle(MEDIA) || '[]') as MediaObject[]
      if (!id || media.length !== content.mediaItems.length) {
        throw new PlatformError('media_not_ready', 'The post was not prepared for Tumblr', { certain: true })
      }
      const blocks = content.mediaItems.map((item, index) => blockOf(item, media[index]!))
      return { id, body: postBody(formatted(content.text), blocks, 'published') }
    },

    async discard(log: Pick<PreparationLog, 'handle'>, account: Credentials, options: CallOptions): Promise<void> {
      const id = log.handle(DRAFT)
      if (id) await remove(id, account, options)
    },

    /** What only preparing needs is heavy, and the API never prepares. */
    warmUp: warmUpImages,
  }
}

export function draftId(log: Pick<PreparationLog, 'handle'>): string | null {
  return log.handle(DRAFT) || null
}

function blockOf(item: MediaItem, media: MediaObject): MediaBlock {
  return mediaBlock(toMediaKind(item.mimeType), media, fitAltText(item, POSTING_RULES.tumblr))
}

function upload(draft: object, plans: FilePlan[]) {
  const files = plans.map(({ mimeType, sizeBytes, open }, index) => {
    const field = identifierOf(index)
    return { field, fileName: `${field}.${mimeType.split('/')[1]}`, mimeType, sizeBytes, open }
  })
  return multipart([textPart('json', JSON.stringify(draft), 'application/json'), ...files])
}

function identifierOf(index: number): string {
  return `media-${index}`
}
