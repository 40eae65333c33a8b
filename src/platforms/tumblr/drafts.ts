import { LRUCache } from 'lru-cache'
import type { Content, MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, MediaSource, OutgoingPost, Checkpoints } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toJsonBody } from '../shared/calls.ts'
import { loadImage, warmUpImages } from '../shared/image-files.ts'
import { createMultipartBody, createTextPart } from '../shared/multipart.ts'
import { assertPostable } from '../shared/postable.ts'
import { toLostMediaError, waitUntilProcessed } from '../shared/processing.ts'
import { saveDraft } from '../shared/save-draft.ts'
import { readCreated, readMeta, readPost } from './responses.ts'
import { toTokenPair } from './accounts.ts'
import { toBlogPath, type Api } from './api.ts'
import {
  formatText,
  toMediaBlock,
  toPostBody,
  findUploadedMedia,
  type FormattedText,
  type MediaBlock,
  type MediaObject,
} from './content.ts'
import { isRefusedAs } from '../shared/refusals.ts'

interface DraftDeps {
  api: Api
  /** A separate client, so that uploads never take a connection from a visible call. */
  uploads: Api
  media: MediaSource
  /** How long one preparation waits for the server to process a video, milliseconds. */
  processingWaitMs: number
}

/** The upload of one file. */
interface FilePlan {
  mimeType: string
  sizeBytes: number
  width?: number
  height?: number
  open(): Promise<Uint8Array | AsyncIterable<Uint8Array>>
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif']
/** Size of the cache of formatted texts, in UTF-16 units of the texts. */
const CACHED_LENGTH = 2_000_000
const UPLOAD_TIMEOUT_MS = 10 * MINUTE
/** Names of checkpoints: the draft's id, and Tumblr's objects for its files. */
const DRAFT = 'draft'
const MEDIA = 'media'

/**
 * Prepares posts as drafts, which only the author sees. One call publishes a draft. It repeats the content with
 * Tumblr's own media objects, so nothing is uploaded twice.
 */
export function createDrafts({ api, uploads, media, processingWaitMs }: DraftDeps) {
  const cache = new LRUCache<string, FormattedText>({
    maxSize: CACHED_LENGTH,
    sizeCalculation: (_, text) => text.length + 1,
  })

  /**
   * Returns the formatted text from the cache: formatting a long text must not delay the visible call or other users'
   * posts.
   */
  function getFormatted(text: string): FormattedText {
    const known = cache.get(text) ?? formatText(text)
    cache.set(text, known)
    return known
  }

  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    const { content } = post
    assertPostable('tumblr', post, POSTING_RULES.tumblr)
    if (!checkpoints.get(DRAFT)) {
      const id = await createDraft(post, account, options)
      await saveDraft(
        () => checkpoints.save(DRAFT, id),
        (deletion) => deletePost(id, account, deletion),
      )
    }
    if (content.mediaItems.length > 0 && !checkpoints.get(MEDIA)) {
      await checkpoints.save(MEDIA, JSON.stringify(await waitForMedia(content, account, checkpoints, options)))
    }
    api.warm()
  }

  async function createDraft(
    { content, options: { tumblr } }: OutgoingPost,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<string> {
    const plans: FilePlan[] = []
    for (const item of content.mediaItems) plans.push(await planFile(item, { signal }))
    const blocks = content.mediaItems.map((item, index) => {
      const { mimeType, width, height } = plans[index]!
      const size = width !== undefined && height !== undefined && { width, height }
      return toBlock(item, { type: mimeType, identifier: toIdentifier(index), ...size })
    })
    const draft = toPostBody(getFormatted(content.text), blocks, { state: 'draft', options: tumblr })
    const [to, body] = plans.length === 0 ? [api, toJsonBody(draft)] : [uploads, toUploadBody(draft, plans)]
    const call = { method: 'POST', path: toBlogPath(account, 'posts'), body } as const
    const timeoutMs = plans.length === 0 ? undefined : UPLOAD_TIMEOUT_MS
    const options = { token: toTokenPair(account), signal, ...(timeoutMs !== undefined && { timeoutMs }) }
    return (await to.send(call, readCreated, options)).id
  }

  /** Deletes a draft or a published post. Succeeds when it is gone. */
  async function deletePost(id: string, account: Credentials, { signal }: CallOptions): Promise<void> {
    const call = { method: 'POST', path: toBlogPath(account, 'post/delete'), fields: { id } } as const
    await api.send(call, readMeta, { token: toTokenPair(account), signal }).catch((error: unknown) => {
      if (!isRefusedAs(error, 'missing')) throw error
    })
  }

  /**
   * Plans the upload of a file. The size of an image is known only after its conversion; it is converted again when it
   * is sent, to save memory.
   */
  async function planFile(item: MediaItem, options: CallOptions): Promise<FilePlan> {
    if (toMediaKind(item.mimeType) === 'video') return planVideo(item, options)
    const { maxBytes } = POSTING_RULES.tumblr.media.image
    const convert = () => loadImage(media, item, { maxBytes, types: IMAGE_TYPES }, options)
    const { bytes, ...image } = await convert()
    return { ...image, sizeBytes: bytes.length, open: async () => (await convert()).bytes }
  }

  async function planVideo(item: MediaItem, options: CallOptions): Promise<FilePlan> {
    const { stream, ...videoFile } = await media.open(item, options)
    const { sizeBytes, mimeType } = videoFile
    await stream.cancel()
    if (sizeBytes > POSTING_RULES.tumblr.media.video.maxBytes) {
      throw new PlatformError('validation', 'The video is larger than Tumblr accepts', { certain: true })
    }
    const { width, height } = videoFile.width ? videoFile : item
    const size = width !== undefined && height !== undefined && { width, height }
    return { mimeType, sizeBytes, ...size, open: async () => (await media.open(item, options)).stream }
  }

  async function waitForMedia(
    content: Content,
    account: Credentials,
    checkpoints: Checkpoints,
    { signal }: CallOptions,
  ): Promise<MediaObject[]> {
    const poll = () => fetchMedia(content, account, checkpoints, { signal })
    return waitUntilProcessed(poll, { label: 'Tumblr', waitMs: processingWaitMs, signal })
  }

  /** Returns `null` while the server processes a file. */
  async function fetchMedia(
    { mediaItems }: Content,
    account: Credentials,
    checkpoints: Checkpoints,
    { signal }: CallOptions,
  ): Promise<MediaObject[] | null> {
    const path = toBlogPath(account, `posts/${encodeURIComponent(checkpoints.get(DRAFT)!)}`)
    try {
      const draft = await api.send({ method: 'GET', path }, readPost, { token: toTokenPair(account), signal })
      return findUploadedMedia(draft, mediaItems.length)
    } catch (error) {
      if (!isRefusedAs(error, 'missing')) throw error
      await checkpoints.save(DRAFT, '')
      throw toLostMediaError('Tumblr no longer has the draft, so it is created again', error)
    }
  }

  return {
    prepare,
    remove: deletePost,

    /**
     * Returns the draft's id and the body that publishes it.
     * @throws PlatformError when it was not prepared
     */
    getPrepared(
      { content, options: { tumblr } }: OutgoingPost,
      checkpoints: Checkpoints,
    ): { id: string; body: object } {
      const id = checkpoints.get(DRAFT)
      const media = JSON.parse(checkpoints.get(MEDIA) || '[]') as MediaObject[]
      if (!id || media.length !== content.mediaItems.length) {
        throw new PlatformError('media_not_ready', 'The post was not prepared for Tumblr', { certain: true })
      }
      const blocks = content.mediaItems.map((item, index) => toBlock(item, media[index]!))
      const state = tumblr?.state ?? 'published'
      return { id, body: toPostBody(getFormatted(content.text), blocks, { state, options: tumblr }) }
    },

    async discard(checkpoints: Pick<Checkpoints, 'get'>, account: Credentials, options: CallOptions): Promise<void> {
      const id = checkpoints.get(DRAFT)
      if (id) await deletePost(id, account, options)
    },

    /** Makes the next preparation create the draft again. */
    async forget(checkpoints: Checkpoints): Promise<void> {
      for (const name of [MEDIA, DRAFT]) if (checkpoints.get(name)) await checkpoints.save(name, '')
    },

    warmUp: warmUpImages,
  }
}

export function getDraftId(checkpoints: Pick<Checkpoints, 'get'>): string | null {
  return checkpoints.get(DRAFT) || null
}

function toBlock(item: MediaItem, media: MediaObject): MediaBlock {
  return toMediaBlock(toMediaKind(item.mimeType), media, fitAltText(item, POSTING_RULES.tumblr))
}

function toUploadBody(draft: object, plans: FilePlan[]) {
  const files = plans.map(({ mimeType, sizeBytes, open }, index) => {
    const field = toIdentifier(index)
    return { field, fileName: `${field}.${mimeType.split('/')[1]}`, mimeType, sizeBytes, open }
  })
  return createMultipartBody([createTextPart('json', JSON.stringify(draft), 'application/json'), ...files])
}

function toIdentifier(index: number): string {
  return `media-${index}`
}
