import type { Facet } from '@atproto/api'
import type { Published } from '../../domain/posts/post.ts'
import { toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryLog,
  MediaSource,
  OutgoingPost,
  PreparationLog,
  Untraced,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { loadImage, warmUpImages } from '../shared/image-files.ts'
import { createMediaTurns } from '../shared/media-turns.ts'
import { readResolvedHandle, readStoredRecord, readUploadedBlob, readWrittenRecord } from './responses.ts'
import { isRefusedAs } from './errors.ts'
import { buildRecord, compareRecord, isVideo, POST_COLLECTION } from './record.ts'
import { recordKey } from './record-key.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { findUpload, forgetUploads, saveUpload, uploadedFiles, type StoredUpload } from './uploads.ts'
import type { createVideo } from './video.ts'
import type { Xrpc } from './xrpc.ts'

interface PostDeps {
  xrpc: Xrpc
  /** Apart from `xrpc`, so that uploads never keep a visible call from its connection. */
  uploads: Xrpc
  services: ServiceAddresses
  media: MediaSource
  video: ReturnType<typeof createVideo>
  appUrl: string
  publishTimeoutMs: number
}

const IMAGES_IN_MEMORY = 2
/** A name is looked up in the few seconds before the instant: one that takes longer makes the post late. */
const LOOKUP_TIMEOUT_MS = 5 * SECOND

const FACETS = 'facets'
/** How many keys before turned out to be taken by foreign records. */
const KEY_STEP = 'keyStep'

/** Bringing a post out: everything invisible first, then one call, and the search for what became of it. */
export function createPosts({ xrpc, uploads, services, media, video, appUrl, publishTimeoutMs }: PostDeps) {
  const inMemory = createMediaTurns({ atOnce: IMAGES_IN_MEMORY, perUser: 1 })

  async function prepare(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    assertPostable(post)
    const { findFacets } = await import('./facets.ts')
    if (!log.handle(FACETS)) {
      const facets = await findFacets(post.content.text, (handle) => resolveHandle(account, handle, options))
      // Most texts have none, and then there is nothing worth a write: finding none again takes no call.
      if (facets.length > 0) await log.save(FACETS, JSON.stringify(facets))
    }
    for (const [index, item] of post.content.mediaItems.entries()) {
      if (toMediaKind(item.mimeType) === 'video') await video.prepare(item, index, account, log, options)
      else if (!findUpload(log, index)) {
        await saveUpload(log, index, await inMemory(item, () => uploadImage(item, account, options), options))
      }
    }
    xrpc.warm(services.of(account))
  }

  async function resolveHandle(account: Credentials, handle: string, options: CallOptions): Promise<string | null> {
    try {
      const params = { handle }
      const service = services.of(account)
      const found = await xrpc.query(service, 'com.atproto.identity.resolveHandle', params, readResolvedHandle, {
        ...options,
        timeoutMs: LOOKUP_TIMEOUT_MS,
      })
      return found.did
    } catch (error) {
      // An answer that there is no such handle; anything else passes and is tried again.
      if (error instanceof PlatformError && (error.class === 'validation' || error.class === 'not_found')) return null
      throw error
    }
  }

  async function uploadImage(
    item: OutgoingPost['content']['mediaItems'][number],
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<StoredUpload> {
    const image = await loadImage(media, item, POSTING_RULES.bluesky.media.image, { signal })
    const { blob } = await uploads.procedure(
      services.of(account),
      'com.atproto.repo.uploadBlob',
      { bytes: image.bytes, sizeBytes: image.bytes.length, mimeType: image.mimeType },
      readUploadedBlob,
      { token: account.accessToken, signal },
    )
    return { blob, width: image.width, height: image.height, uploadedAt: Date.now() }
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    { signal }: CallOptions,
  ): Promise<Published> {
    const record = buildRecord(post.content, delivery.startedAt, readFacets(delivery), uploadedFiles(post, delivery))
    const input = {
      repo: account.accountId,
      collection: POST_COLLECTION,
      // guard: record key
      rkey: keyOf(delivery),
      record,
      // Create only; the same record again is no change and gets the same answer.
      swapRecord: null,
    }
    const call = { token: account.accessToken, signal, timeoutMs: publishTimeoutMs }
    try {
      const written = await xrpc.procedure(
        services.of(account),
        'com.atproto.repo.putRecord',
        input,
        readWrittenRecord,
        call,
      )
      return published(written.uri)
    } catch (error) {
      if (isRefusedAs(error, 'BlobNotFound')) await forgetUploads(post, delivery)
      throw error
    }
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    options: CallOptions,
  ): Promise<Published | Untraced> {
    const params = { repo: account.accountId, collection: POST_COLLECTION, rkey: keyOf(delivery) }
    try {
      const stored = await xrpc.query(
        services.of(account),
        'com.atproto.repo.getRecord',
        params,
        readStoredRecord,
        options,
      )
      // Another record in its place says nothing of ours.
      if (stored.uri !== `at://${params.repo}/${params.collection}/${params.rkey}`) return 'undecidable'
      const whose = compareRecord(stored, post.content, delivery.startedAt)
      if (whose === 'ours') return published(stored.uri)
      if (whose === 'unclear') return 'undecidable'
      await delivery.save(KEY_STEP, String(keyStep(delivery) + 1))
      return 'absent'
    } catch (error) {
      if (isRefusedAs(error, 'RecordNotFound')) return 'absent'
      // A definite answer to another question, such as that the account lives elsewhere now.
      if (error instanceof PlatformError && error.class === 'validation') return 'undecidable'
      throw error
    }
  }

  /** The address with the DID keeps leading to the post when the account takes another handle (platforms.md 2c). */
  function published(uri: string): Published {
    const [did, , key] = uri.replace('at://', '').split('/')
    return { platformPostId: uri, platformPostUrl: `${trimTrailingSlashes(appUrl)}/profile/${did}/post/${key}` }
  }

  /** What only preparing needs is heavy, and the API never prepares. */
  async function warmUp(): Promise<void> {
    await Promise.all([import('./facets.ts'), warmUpImages()])
  }

  return { warmUp, prepare, publish, reconcile }
}

function assertPostable({ content }: OutgoingPost): void {
  const { image, video } = POSTING_RULES.bluesky.media
  const problem = problemOf()
  if (problem !== null) throw new PlatformError('validation', problem, { certain: true })

  function problemOf(): string | null {
    const { mediaItems } = content
    if (isVideo(content)) {
      if (mediaItems.length > 1) return 'Bluesky takes a video only alone in its post'
      const { mimeType } = mediaItems[0]!
      return video.types.includes(mimeType) ? null : `Bluesky takes no ${mimeType}`
    }
    return mediaItems.length > image.max ? `Bluesky takes at most ${image.max} images in a post` : null
  }
}

function readFacets(log: PreparationLog): Facet[] {
  const stored = log.handle(FACETS)
  return stored ? (JSON.parse(stored) as Facet[]) : []
}

function keyStep(log: PreparationLog): number {
  return Number(log.handle(KEY_STEP) ?? 0)
}

function keyOf(delivery: DeliveryLog): string {
  return recordKey(delivery.key, delivery.startedAt, keyStep(delivery))
}
