import type { MediaItem } from '../../../domain/posts/post.ts'
import { HOUR, SECOND } from '../../../domain/shared/times.ts'
import type { CallOptions, Credentials, OutgoingPost, Checkpoints } from '../../contract.ts'
import { PlatformError } from '../../errors.ts'
import { toLostMediaError, waitUntilProcessed } from '../processing.ts'
import { toParentGoneError } from '../refusals.ts'
import { readId } from './responses.ts'
import type { GraphApi, GraphParams } from './api.ts'
import { isRefusedAs } from './errors.ts'
import { isPresent } from './presence.ts'

/** The state of a container; `gone`: the platform no longer has it, `unstated`: it does not say. */
type ContainerState = 'in-progress' | 'finished' | 'published' | 'failed' | 'expired' | 'gone' | 'unstated'

export interface ContainerStatus {
  state: ContainerState
  /** The platform's code or text for a failure. */
  problem?: string
}

/** The fields of a post from which a container is made. */
export type ContainerContent = Pick<OutgoingPost, 'content' | 'options' | 'link' | 'replyTo'>

/** The differences between platforms with containers. */
export interface ContainerDialect {
  /** The last path segment below the account. */
  createPath: string
  /** The parameter with the id of the post that a reply is to, where a post may be a reply. */
  replyField?: string
  toSingleFields(post: ContainerContent, media: PulledItem | undefined): GraphParams
  /** @param index of the item in the post */
  toChildFields(media: PulledItem, post: ContainerContent, index: number): GraphParams
  toCarouselFields(post: ContainerContent): GraphParams
  statusFields: string
  readStatus(text: string): ContainerStatus | null
  /** Failures that a new container cannot fix, each with its message for people. */
  problems: readonly (readonly [problem: RegExp, message: string])[]
}

export interface PulledItem {
  item: MediaItem
  /** The URL from which the platform fetches the file. */
  url: string
}

interface ContainerDeps {
  api: GraphApi
  /** A separate client, so that slow calls never take a connection from a visible call. */
  containerApi: GraphApi
  dialect: ContainerDialect
  /** Returns the address of a file for the platform. */
  resolveUrl(item: MediaItem, post: OutgoingPost, options: CallOptions): Promise<string>
  /** How long one preparation waits for the platform to process an image or video, milliseconds. */
  processingWaitMs: number
}

const STATES: Readonly<Record<string, ContainerState>> = {
  IN_PROGRESS: 'in-progress',
  FINISHED: 'finished',
  PUBLISHED: 'published',
  ERROR: 'failed',
  EXPIRED: 'expired',
}

/** Converts the platform's name of a state. Some containers state none for a while. */
export function parseContainerState(word: string | null | undefined): ContainerState {
  return STATES[word ?? ''] ?? 'unstated'
}

/** Returns whether the platform is yet to fill the container. */
const isUnfinished = (state: ContainerState): boolean => state === 'in-progress' || state === 'unstated'

/** The kind of errors that mean: this container can no longer be published. */
export const CONTAINER_GONE = 'container-gone'

/** Platforms drop containers after 24 hours; older ones than this are created again in time. */
const LIFE_MS = 20 * HOUR
const CREATE_TIMEOUT_MS = 60 * SECOND
/**
 * How long a ready container is not checked again: a slow response in the last seconds would delay the post. It is
 * shorter than `inFlightMs`, so that no other process can have published the container unnoticed.
 */
const READY_CACHE_MS = 12 * SECOND
const MAX_READY_CACHE = 10_000
/** A container that failed without a reason succeeds about half a minute later, if at all. */
const RETRY_AFTER_MS = 30 * SECOND

const WHOLE_POST = 'container'
const toChildName = (index: number) => `container.${index}`

/** The arguments of one call of `prepare`. */
interface Preparation {
  post: OutgoingPost
  account: Credentials
  checkpoints: Checkpoints
  options: CallOptions
}

/** The checkpoint of a container. An empty one means that it must be created again. */
interface Container {
  id: string
  createdAt: number
  /**
   * The platform published it although no call of ours is known to have succeeded. It must never be published again.
   */
  isPublished?: boolean
}

/**
 * Creates containers: unpublished posts that the platform fills from public URLs. Each id is stored before the next
 * step. A carousel is a container of containers.
 */
export function createContainers({ api, containerApi, dialect, resolveUrl, processingWaitMs }: ContainerDeps) {
  const { label } = api
  const readyAtById = new Map<string, number>()

  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    const run = { post, account, checkpoints, options }
    const known = read(checkpoints, WHOLE_POST)
    if (!known || !(await canReuse(known, run))) await createWhole(run)
    api.warm()
  }

  /**
   * Checks a container even if it was ready before: a container that was published meanwhile must not be created again.
   */
  async function canReuse(known: Container, run: Preparation): Promise<boolean> {
    const { post, account, checkpoints, options } = run
    if (!isOld(known) && Date.now() - (readyAtById.get(known.id) ?? 0) < READY_CACHE_MS) return true
    const status = await fetchStatus(known.id, account, options)
    if (status.state === 'published') {
      await save(checkpoints, WHOLE_POST, { ...known, isPublished: true })
      return true
    }
    if ((status.state === 'finished' || isUnfinished(status.state)) && !isOld(known)) {
      if (status.state !== 'finished') await waitUntilReady(known.id, run)
      return true
    }
    await forgetContainers(post, checkpoints)
    if (status.state === 'failed') throw toFailure(status)
    return false
  }

  async function createWhole(run: Preparation) {
    const { post, account, checkpoints, options } = run
    const { content, replyTo } = post
    const [item] = content.mediaItems
    const ownFields =
      content.mediaItems.length > 1
        ? { ...dialect.toCarouselFields(post), children: (await createChildren(run)).join(',') }
        : dialect.toSingleFields(post, item && (await pull(item, run)))
    const fields = replyTo && dialect.replyField ? { ...ownFields, [dialect.replyField]: replyTo.parentId } : ownFields
    const id = await createContainer(fields, account, options).catch(async (error: unknown) => {
      throw await explainRefusedReply(error, run)
    })
    await save(checkpoints, WHOLE_POST, { id, createdAt: Date.now() })
    await waitUntilReady(id, run)
  }

  /** Platforms do not say clearly that the post is gone that a reply is to, so that post is read. */
  async function explainRefusedReply(error: unknown, { post: { replyTo }, account, options }: Preparation) {
    const mayBeParent =
      error instanceof PlatformError &&
      error.certain &&
      ['not_found', 'validation', 'media_not_ready'].includes(error.class)
    if (!replyTo || !mayBeParent) return error
    const call = { token: account.accessToken, signal: options.signal }
    return (await isPresent(api, replyTo.parentId, call)) ? error : toParentGoneError(label, error)
  }

  async function createChildren(run: Preparation) {
    const { post, account, checkpoints, options } = run
    const ids: string[] = []
    for (const [index, item] of post.content.mediaItems.entries()) {
      const known = read(checkpoints, toChildName(index))
      if (known && !isOld(known)) {
        ids.push(known.id)
        continue
      }
      const media = await pull(item, run)
      const id = await createContainer(dialect.toChildFields(media, post, index), account, options)
      await save(checkpoints, toChildName(index), { id, createdAt: Date.now() })
      ids.push(id)
    }
    for (const id of ids) await waitUntilReady(id, run)
    return ids
  }

  async function pull(item: MediaItem, { post, options }: Preparation): Promise<PulledItem> {
    return { item, url: await resolveUrl(item, post, options) }
  }

  async function createContainer(fields: GraphParams, account: Credentials, { signal }: CallOptions): Promise<string> {
    const path = `/${encodeURIComponent(account.accountId)}/${dialect.createPath}`
    const call = { token: account.accessToken, signal, timeoutMs: CREATE_TIMEOUT_MS }
    return (await containerApi.post(path, fields, readId, call)).id
  }

  async function waitUntilReady(id: string, { post, account, checkpoints, options }: Preparation): Promise<void> {
    const poll = async () => {
      const status = await fetchStatus(id, account, options)
      if (isUnfinished(status.state)) return null
      if (status.state === 'finished' || status.state === 'published') return true
      await forgetContainers(post, checkpoints)
      throw status.state === 'failed' ? toFailure(status) : toLostMediaError(`${label} no longer has the prepared post`)
    }
    await waitUntilProcessed(poll, { label, waitMs: processingWaitMs, signal: options.signal })
  }

  async function fetchStatus(id: string, account: Credentials, { signal }: CallOptions): Promise<ContainerStatus> {
    const params = { fields: dialect.statusFields }
    const call = { token: account.accessToken, signal }
    readyAtById.delete(id)
    try {
      const status = await api.get(`/${encodeURIComponent(id)}`, params, dialect.readStatus, call)
      if (status.state === 'finished') rememberReady(id)
      return status
    } catch (error) {
      const isGone = error instanceof PlatformError && error.class === 'not_found'
      if (isGone || isRefusedAs(error, CONTAINER_GONE)) return { state: 'gone' }
      throw error
    }
  }

  function rememberReady(id: string): void {
    if (readyAtById.size > MAX_READY_CACHE) readyAtById.clear()
    readyAtById.set(id, Date.now())
  }

  function toFailure({ problem = '' }: ContainerStatus): PlatformError {
    const known = dialect.problems.find(([pattern]) => pattern.test(problem))
    const reason = { text: problem }
    if (known) return new PlatformError('validation', `${label} ${known[1]}`, { certain: true, reason })
    return new PlatformError('media_fetch_failed', `${label} could not read an image or video`, {
      certain: true,
      reason,
      retryAfterMs: RETRY_AFTER_MS,
    })
  }

  return {
    prepare,
    fetchStatus,
    forget: forgetContainers,
    /**
     * Returns the container for the visible call and forgets that it was ready.
     * @throws PlatformError when there is none
     */
    takeContainer(checkpoints: Checkpoints): Container {
      const container = read(checkpoints, WHOLE_POST)
      if (container) {
        readyAtById.delete(container.id)
        return container
      }
      throw new PlatformError('media_not_ready', `${label} has not received the post yet`, {
        certain: true,
        retryAfterMs: SECOND,
      })
    },
    findContainer: (checkpoints: Checkpoints): Container | null => read(checkpoints, WHOLE_POST),
  }
}

async function forgetContainers({ content }: OutgoingPost, checkpoints: Checkpoints): Promise<void> {
  const names = [WHOLE_POST, ...content.mediaItems.map((_, index) => toChildName(index))]
  for (const name of names) if (checkpoints.get(name)) await checkpoints.save(name, '')
}

function isOld({ createdAt }: Container): boolean {
  return Date.now() - createdAt > LIFE_MS
}

function read(checkpoints: Checkpoints, name: string): Container | null {
  const stored = checkpoints.get(name)
  return stored ? (JSON.parse(stored) as Container) : null
}

async function save(checkpoints: Checkpoints, name: string, container: Container): Promise<void> {
  await checkpoints.save(name, JSON.stringify(container))
}
