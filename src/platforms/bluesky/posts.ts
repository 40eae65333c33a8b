import type { Facet } from '@atproto/api'
import { parseBlueskyPost } from '../../domain/posts/options.ts'
import type { Published } from '../../domain/posts/post.ts'
import { toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  Checkpoints,
  NotFoundResult,
  SearchOptions,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toUnreadableError } from '../shared/calls.ts'
import { listSince } from '../shared/list-since.ts'
import { warmUpImages } from '../shared/image-files.ts'
import { searchRestored } from '../shared/restored-search.ts'
import {
  readDeletedRecord,
  readResolvedHandle,
  readStoredRecord,
  readStoredRecords,
  readWrittenRecord,
  type StoredRecord,
} from './responses.ts'
import { toParentGoneError, toUnprovenError } from '../shared/refusals.ts'
import { isRefusedAs } from './errors.ts'
import {
  buildGate,
  buildRecord,
  GATE_COLLECTION,
  hasSameContent,
  isVideo,
  POST_COLLECTION,
  type ReplyRef,
  type StrongRef,
} from './record.ts'
import type { createCards } from './cards.ts'
import type { Images } from './images.ts'
import { deriveRecordKey } from './record-key.ts'
import { readSaved } from './saved.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { findUpload, forgetUploads, saveUpload, listUploadedFiles } from './uploads.ts'
import type { createVideo } from './video.ts'
import { asAccount, type Xrpc } from './xrpc.ts'

interface PostDeps {
  xrpc: Xrpc
  services: ServiceAddresses
  images: Images
  video: ReturnType<typeof createVideo>
  cards: ReturnType<typeof createCards>
  appUrl: string
  publishTimeoutMs: number
}

/** Handles are resolved seconds before the scheduled time; a slower lookup would delay the post. */
const LOOKUP_TIMEOUT_MS = 5 * SECOND

/** The maximum difference between the time in a record and ours. */
const CLOCK_TOLERANCE_MS = MINUTE
const PAGE = 100
const MAX_PAGES = 5

const FACETS = 'facets'
const REPLY = 'reply'
const QUOTE = 'quote'
const LOOKUP_FAILURES = 'lookupFailures'
/** Further failures to look up a mention do not hold up its post. */
const MAX_LOOKUP_FAILURES = 2

/** Prepares and publishes posts, and reconciles unknown outcomes. */
export function createPosts({ xrpc, services, images, video, cards, appUrl, publishTimeoutMs }: PostDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    assertPostable(post)
    await prepareFacets(post, account, checkpoints, options)
    await prepareReply(post, account, checkpoints, options)
    await prepareQuote(post, account, checkpoints, options)
    for (const [index, item] of post.content.mediaItems.entries()) {
      if (toMediaKind(item.mimeType) === 'video') await video.prepare({ item, index }, account, checkpoints, options)
      else if (!findUpload(checkpoints, index)) {
        const limits = POSTING_RULES.bluesky.media.image
        await saveUpload(checkpoints, index, await images.uploadItem(item, limits, account, options))
      }
    }
    await cards.prepare(post, account, checkpoints, options)
    xrpc.warm(services.resolve(account))
  }

  async function prepareFacets(
    { content }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ) {
    if (checkpoints.get(FACETS)) return
    const { findFacets } = await import('./facets.ts')
    const failures = Number(checkpoints.get(LOOKUP_FAILURES) ?? 0)
    try {
      const facets = await findFacets(content.text, (handle) => resolveHandle(account, handle, failures, options))
      // Most texts have no facets. Then nothing is stored, since finding none again takes no call.
      if (facets.length > 0) await checkpoints.save(FACETS, JSON.stringify(facets))
    } catch (error) {
      if (isTransient(error)) await checkpoints.save(LOOKUP_FAILURES, String(failures + 1))
      throw error
    }
  }

  /** Stores the references to the posts that a reply continues: they contain hashes of the records. */
  async function prepareReply(
    { replyTo }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ) {
    if (!replyTo || checkpoints.get(REPLY)) return
    const { rootId, parentId } = replyTo
    const parent = await loadPart(parentId, account, options)
    const root = rootId === parentId ? parent : await loadPart(rootId, account, options)
    await checkpoints.save(REPLY, JSON.stringify({ root, parent } satisfies ReplyRef))
  }

  /** Stores the reference to the post that is quoted, of any author. */
  async function prepareQuote(
    { options: { bluesky = {} }, replyTo }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ) {
    const quoted = bluesky.quoteUrl === undefined || replyTo ? null : parseBlueskyPost(bluesky.quoteUrl)
    if (!quoted || checkpoints.get(QUOTE)) return
    const isDid = quoted.author.startsWith('did:')
    const did = isDid ? quoted.author : await resolveHandle(account, quoted.author, MAX_LOOKUP_FAILURES, options)
    const found = did === null ? null : await loadReference({ repo: did, rkey: quoted.key }, account, options)
    if (!found) throw new PlatformError('validation', 'The quoted post is not on Bluesky', { certain: true })
    await checkpoints.save(QUOTE, JSON.stringify(found))
  }

  async function loadPart(uri: string, account: Credentials, options: CallOptions): Promise<StrongRef> {
    const rkey = uri.split('/').at(-1)!
    const found = await loadReference({ repo: account.accountId, rkey }, account, options)
    if (found) return found
    throw toParentGoneError('Bluesky')
  }

  /** Returns the reference to a post; null when there is none. The account's server asks the others. */
  async function loadReference(
    post: { repo: string; rkey: string },
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<StrongRef | null> {
    const params = { ...post, collection: POST_COLLECTION }
    const call = { service: services.resolve(account), nsid: 'com.atproto.repo.getRecord', params }
    try {
      const { uri, cid } = await xrpc.query(call, readStoredRecord, { signal })
      if (cid !== undefined) return { uri, cid }
    } catch (error) {
      if (isRefusedAs(error, 'RecordNotFound')) return null
      throw error
    }
    throw new PlatformError('transient', 'Bluesky did not name the version of a post', { certain: true })
  }

  const isTransient = (error: unknown) => error instanceof PlatformError && error.class === 'transient'

  /**
   * Returns null for a handle that does not exist.
   * @param failures how often the mentions of the post could not be looked up before
   */
  async function resolveHandle(
    account: Credentials,
    handle: string,
    failures: number,
    options: CallOptions,
  ): Promise<string | null> {
    try {
      const params = { handle }
      const service = services.resolve(account)
      const found = await xrpc.query(
        { service, nsid: 'com.atproto.identity.resolveHandle', params },
        readResolvedHandle,
        { ...options, timeoutMs: LOOKUP_TIMEOUT_MS },
      )
      return found.did
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      // The server asks another one, which may fail for long: then the mention stays plain text.
      const isGivenUp = isTransient(error) && failures >= MAX_LOOKUP_FAILURES
      if (isGivenUp || error.class === 'validation' || error.class === 'not_found') return null
      throw error
    }
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const record = buildRecord(post.content, {
      createdAt: delivery.dueAt,
      facets: readSaved<Facet[]>(delivery, FACETS) ?? [],
      files: listUploadedFiles(post, delivery),
      reply: readSaved<ReplyRef>(delivery, REPLY),
      quote: readSaved<StrongRef>(delivery, QUOTE),
      card: cards.find(delivery),
      options: post.options.bluesky,
    })
    await writeGate(post, account, delivery, { signal })
    const input = {
      repo: account.accountId,
      collection: POST_COLLECTION,
      // guard: record key
      rkey: deriveRecordKey(delivery.key, delivery.dueAt),
      record,
      // Creates only; writing the same record again changes nothing and gets the same response.
      swapRecord: null,
    }
    const call = { ...asAccount(account), signal, timeoutMs: publishTimeoutMs }
    try {
      const written = await xrpc.procedure(
        { service: services.resolve(account), nsid: 'com.atproto.repo.putRecord', input },
        readWrittenRecord,
        call,
      )
      return toPublished(written.uri, delivery)
    } catch (error) {
      if (isRefusedAs(error, 'BlobNotFound')) {
        await forgetUploads(post, delivery)
        await cards.forgetThumb(delivery)
      }
      if (!(error instanceof PlatformError && error.class === 'not_found')) throw error
      return publishedDespite(error, account, delivery, { signal })
    }
  }

  /**
   * Says who may reply to the post before it is published, since the post must never be open to others. Without its post the record shows
   * nothing. Writing it again changes nothing.
   */
  async function writeGate(
    { options: { bluesky = {} }, replyTo }: OutgoingPost,
    account: Credentials,
    { key, dueAt }: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<void> {
    if (!bluesky.replyGate?.length || replyTo) return
    const rkey = deriveRecordKey(key, dueAt)
    const repo = account.accountId
    const record = buildGate(`at://${repo}/${POST_COLLECTION}/${rkey}`, dueAt, bluesky.replyGate)
    const call = {
      service: services.resolve(account),
      nsid: 'com.atproto.repo.putRecord',
      input: { repo, collection: GATE_COLLECTION, rkey, record },
    }
    try {
      await xrpc.procedure(call, readWrittenRecord, { ...asAccount(account), signal })
    } catch (error) {
      if (!(error instanceof PlatformError) || error.certain) throw error
      throw new PlatformError(error.class, error.message, { certain: true, cause: error })
    }
  }

  /** Returns the post that a server made although it says that something was not found. @throws PlatformError when there is none */
  async function publishedDespite(
    cause: PlatformError,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: CallOptions,
  ): Promise<Published> {
    const stored = await findRecord(account, delivery, options).catch(() => undefined)
    if (stored) return toPublished(stored.uri, delivery)
    if (stored === null) throw cause
    throw toUnprovenError(cause)
  }

  /** Returns the record under the key of a delivery, whatever its author made of it since; null when there is none. */
  async function findRecord(
    account: Credentials,
    { key, dueAt }: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<StoredRecord | null> {
    const params = { repo: account.accountId, collection: POST_COLLECTION, rkey: deriveRecordKey(key, dueAt) }
    const call = { service: services.resolve(account), nsid: 'com.atproto.repo.getRecord', params }
    try {
      const stored = await xrpc.query(call, readStoredRecord, { signal })
      // A record under another URI says nothing about ours.
      if (stored.uri === `at://${params.repo}/${params.collection}/${params.rkey}`) return stored
    } catch (error) {
      if (isRefusedAs(error, 'RecordNotFound')) return null
      throw error
    }
    throw new PlatformError('validation', 'Bluesky returned another post', { certain: false, answered: true })
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    try {
      const stored = await findRecord(account, delivery, options)
      // After a restore, an equal post that was searched for by its content may have taken this one.
      if (stored && !(await options.isTaken(stored.uri))) return toPublished(stored.uri, delivery)
    } catch (error) {
      // A definite answer to a different question, such as a moved account.
      if (error instanceof PlatformError && error.class === 'validation') return 'undecidable'
      throw error
    }
    return options.isRestored ? findRestored(post, account, delivery, options) : 'absent'
  }

  /** Finds a post that was published with another key than a restored delivery has: after a retry, or at another time. */
  async function findRestored(
    { content }: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const own = await listRecordsSince(delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS, account, options)
    const found = await searchRestored(
      own,
      {
        content,
        toId: ({ uri }) => uri,
        toText: ({ value }) => String(value.text),
        isSame: (record) => hasSameContent(record, content),
      },
      options,
    )
    return typeof found === 'string' ? found : toPublished(found.uri, delivery)
  }

  /** Returns the newest first; `null` when there are too many to search. */
  async function listRecordsSince(
    since: number,
    account: Credentials,
    { signal }: SearchOptions,
  ): Promise<StoredRecord[] | null> {
    const service = services.resolve(account)
    const { found, isComplete } = await listSince({
      since,
      maxPages: MAX_PAGES,
      toTime: ({ value }: StoredRecord) => Date.parse(String(value.createdAt)),
      async load(cursor) {
        const params = {
          repo: account.accountId,
          collection: POST_COLLECTION,
          limit: String(PAGE),
          ...(cursor !== undefined && { cursor }),
        }
        const call = { service, nsid: 'com.atproto.repo.listRecords', params }
        const listed = await xrpc.query(call, readStoredRecords, { signal })
        return { found: listed.records, next: listed.cursor }
      },
    })
    return isComplete ? found : null
  }

  /** Deleting a record that does not exist succeeds, too, and says less: then the record is looked up. */
  async function remove(uri: string, account: Credentials, { signal }: CallOptions): Promise<void> {
    const rkey = uri.split('/').at(-1)!
    const call = {
      service: services.resolve(account),
      nsid: 'com.atproto.repo.deleteRecord',
      input: { repo: account.accountId, collection: POST_COLLECTION, rkey },
    }
    const { commit } = await xrpc.procedure(call, readDeletedRecord, { ...asAccount(account), signal })
    if (commit || !(await loadReference({ repo: account.accountId, rkey }, account, { signal }))) return
    throw toUnreadableError('Bluesky')
  }

  /** A URL with the DID stays valid when the account changes its handle. */
  function toPublished(uri: string, delivery: DeliveryCheckpoints): Published {
    const [did, , key] = uri.replace('at://', '').split('/')
    const warning = cards.findWarning(delivery)
    return {
      platformPostId: uri,
      platformPostUrl: `${trimTrailingSlashes(appUrl)}/profile/${did}/post/${key}`,
      ...(warning !== undefined && { warning }),
    }
  }

  /** Loads the large modules that only preparation needs; the API never prepares. */
  async function warmUp(): Promise<void> {
    await Promise.all([import('./facets.ts'), warmUpImages()])
  }

  return { warmUp, prepare, publish, reconcile, remove }
}

function assertPostable({ content }: OutgoingPost): void {
  const { image, video } = POSTING_RULES.bluesky.media
  const problem = findProblem()
  if (problem !== null) throw new PlatformError('validation', problem, { certain: true })

  function findProblem(): string | null {
    const { mediaItems } = content
    if (isVideo(content)) {
      if (mediaItems.length > 1) return 'Bluesky accepts a video only without other media'
      const { mimeType } = mediaItems[0]!
      return video.types.includes(mimeType) ? null : `Bluesky does not accept ${mimeType}`
    }
    return mediaItems.length > image.max ? `Bluesky accepts at most ${image.max} images in a post` : null
  }
}
