import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Checkpoints, Credentials, OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toUnreadableError } from '../shared/calls.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isErrorClass, isRefusedAs } from '../shared/graph/errors.ts'
import { readId, readSuccess } from '../shared/graph/responses.ts'
import { toLostMediaError, waitUntilProcessed } from '../shared/processing.ts'
import { saveDraft } from '../shared/save-draft.ts'
import {
  findDraft,
  isDirect,
  isWithoutLink,
  leaveOutLink,
  publishDirectly,
  storeDraft,
  type Draft,
} from './checkpoints.ts'
import { LINK_REFUSED, PHOTO_GONE, PHOTO_USED } from './errors.ts'
import { toFeedFields, toVideoFields } from './fields.ts'
import { forgetPhotos, isVideo, LIFE_MS, type createFiles } from './files.ts'
import { readDraft, readPublished } from './responses.ts'
import { fetchVideo, toVideoError } from './videos.ts'

interface DraftDeps {
  api: GraphApi
  /** A separate client, so that uploads never take a connection from a visible call. */
  uploads: GraphApi
  files: ReturnType<typeof createFiles>
  /** Deadline of a call during which Facebook fetches a video, milliseconds. */
  videoTimeoutMs: number
  /** How long one preparation waits for Facebook to process a video, milliseconds. */
  processingWaitMs: number
}

/** The state of a draft. `gone`: Facebook no longer has it. */
type DraftState = { isPublished: boolean; permalink: string | undefined } | 'gone'

/** The arguments of one call of `prepare`. */
interface Preparation {
  post: OutgoingPost
  account: Credentials
  checkpoints: Checkpoints
  options: CallOptions
}

/** A draft is for people with a role on the page; other unpublished posts are for advertisements. */
const UNPUBLISHED = { published: 'false', unpublished_content_type: 'DRAFT' }
/** Refusals that may concern the draft and not its content. */
const DRAFT_REFUSALS = ['permission', 'validation', 'duplicate']
/** How long a video may be unreadable after its upload. */
const READABLE_WITHIN_MS = MINUTE

const toPath = (id: string) => `/${encodeURIComponent(id)}`

/**
 * Prepares posts as drafts. One call publishes a draft under the id that it has, so that a repeat of the call changes nothing
 * (ADR "Containers and drafts are published once").
 */
export function createDrafts({ api, uploads, files, videoTimeoutMs, processingWaitMs }: DraftDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    const run = { post, account, checkpoints, options }
    const known = findDraft(checkpoints)
    if (isDirect(checkpoints)) await files.prepare(post, account, checkpoints, options)
    else if (!known || !(await canReuse(known, run))) await create(run)
    api.warm()
  }

  /** An old draft is deleted first, so that a late call cannot publish it. */
  async function canReuse(known: Draft, run: Preparation): Promise<boolean> {
    if (Date.now() - known.createdAt < LIFE_MS) {
      await waitUntilReady(known, run)
      return true
    }
    return (await removeUnpublished(known, run.account, run.options)) === 'published'
  }

  async function create(run: Preparation): Promise<void> {
    const { post, account, checkpoints, options } = run
    await files.prepare(post, account, checkpoints, options)
    let draft: Draft
    try {
      draft = isVideo(post) ? await createVideo(run) : await createPost(run)
    } catch (error) {
      return handleRefusal(error, run)
    }
    await saveDraft(
      () => storeDraft(checkpoints, draft),
      async (deletion) => void (await remove(draft.id, account, deletion)),
    )
    await waitUntilReady(draft, run)
  }

  async function createPost({ post, account, checkpoints, options: { signal } }: Preparation): Promise<Draft> {
    const fields = { ...toFeedFields(post, checkpoints), ...UNPUBLISHED }
    const call = { token: account.accessToken, signal }
    const { id, permalink_url: permalink } = await uploads.post(
      `${toPath(account.accountId)}/feed`,
      fields,
      readPublished,
      call,
    )
    return { id, permalink, createdAt: Date.now(), field: 'is_published', isReady: true }
  }

  async function createVideo({ post, account, checkpoints, options: { signal } }: Preparation): Promise<Draft> {
    const fields = { ...toVideoFields(post, checkpoints), ...UNPUBLISHED }
    const call = { token: account.accessToken, signal, timeoutMs: videoTimeoutMs }
    const { id } = await uploads.post(`${toPath(account.accountId)}/videos`, fields, readId, call)
    return { id, createdAt: Date.now(), field: 'published', isReady: false }
  }

  /** Where a page refuses the draft, the visible call shows whether it refuses the content, too. */
  async function handleRefusal(error: unknown, run: Preparation): Promise<void> {
    const { post, checkpoints } = run
    if (isRefusedAs(error, LINK_REFUSED) && !isWithoutLink(checkpoints)) {
      await leaveOutLink(checkpoints)
      return create(run)
    }
    // A draft whose id was lost may have the photos.
    if (isRefusedAs(error, PHOTO_GONE) || isRefusedAs(error, PHOTO_USED)) {
      await forgetPhotos(post, checkpoints)
      throw toLostMediaError('Facebook no longer has an image, so it is uploaded again', error)
    }
    const isDraftRefused = error instanceof PlatformError && error.certain && DRAFT_REFUSALS.includes(error.class)
    if (!isDraftRefused) throw error
    await publishDirectly(checkpoints)
  }

  async function waitUntilReady(draft: Draft, { account, checkpoints, options }: Preparation): Promise<void> {
    if (draft.isReady) return
    const poll = async () => {
      const video = await fetchVideo(api, draft.id, account, options)
      if (video?.state === 'ready') return video
      const mayAppear = video === null && Date.now() - draft.createdAt < READABLE_WITHIN_MS
      if (video?.state === 'processing' || mayAppear) return null
      await storeDraft(checkpoints, null)
      if (video === null) throw toLostMediaError('Facebook no longer has the video, so it is uploaded again')
      await remove(draft.id, account, options).catch(() => undefined)
      throw toVideoError(video.reason)
    }
    const { permalink } = await waitUntilProcessed(poll, { label: 'Facebook', waitMs: processingWaitMs, ...options })
    await storeDraft(checkpoints, { ...draft, permalink, isReady: true })
  }

  async function fetchState(
    { id, field }: Draft,
    account: Credentials,
    options: CallOptions & { timeoutMs?: number },
  ): Promise<DraftState> {
    const call = { token: account.accessToken, ...options }
    try {
      const draft = await api.get(toPath(id), { fields: `${field},permalink_url` }, readDraft, call)
      const isPublished = draft[field]
      if (isPublished === undefined) throw toUnreadableError('Facebook')
      return { isPublished, permalink: draft.permalink_url }
    } catch (error) {
      if (isErrorClass(error, 'not_found') && error.certain) return 'gone'
      throw error
    }
  }

  /** A draft that its people have published stays. */
  async function removeUnpublished(draft: Draft, account: Credentials, options: CallOptions) {
    const state = await fetchState(draft, account, options)
    if (state === 'gone') return 'removed'
    if (state.isPublished) return 'published'
    await remove(draft.id, account, options)
    return 'removed'
  }

  const remove = (id: string, { accessToken: token }: Credentials, { signal }: CallOptions): Promise<boolean> =>
    api.remove(toPath(id), { token, signal })

  return {
    prepare,
    fetchState,

    /** Makes the visible call. A repeat of it succeeds, too. */
    publish: ({ id, field }: Draft, account: Credentials, options: CallOptions & { timeoutMs: number }) =>
      api.post(`${toPath(id)}?${field}=true`, {}, readSuccess, { ...options, token: account.accessToken }),

    /** Makes the next preparation create the draft again. */
    async forget(post: OutgoingPost, checkpoints: Checkpoints): Promise<void> {
      await storeDraft(checkpoints, null)
      await forgetPhotos(post, checkpoints)
    },

    async discard(checkpoints: Pick<Checkpoints, 'get'>, account: Credentials, { signal }: CallOptions): Promise<void> {
      const draft = findDraft(checkpoints)
      if (draft) await removeUnpublished(draft, account, { signal })
    },
  }
}

/** The error for a draft that certainly was not published. */
export function toLostDraftError(cause: PlatformError): PlatformError {
  const message = 'Facebook no longer has the prepared post, so it is created again'
  return new PlatformError('media_not_ready', message, { certain: true, retryAfterMs: SECOND, cause })
}
