import type { Content, MediaItem } from '../../../domain/posts/post.ts'
import { HOUR, SECOND } from '../../../domain/shared/times.ts'
import type { CallOptions, Credentials, OutgoingPost, PreparationLog } from '../../contract.ts'
import { PlatformError } from '../../errors.ts'
import { lostMedia, whenProcessed } from '../processing.ts'
import type { PulledMedia } from '../pulled-media.ts'
import { readMade } from './responses.ts'
import type { GraphApi, GraphParams } from './api.ts'
import { isRefusedAs } from './errors.ts'

/** What a container can be in; `gone` where the platform does not know it any more. */
type ContainerState = 'in-progress' | 'finished' | 'published' | 'failed' | 'expired' | 'gone'

export interface ContainerStatus {
  state: ContainerState
  /** Of a failed one: why, in the platform's word. */
  problem?: string
}

/** How a platform puts what all platforms with containers have. */
export interface ContainerDialect {
  /** The last part of the path. */
  createPath: string
  single(content: Content, media: PulledItem | undefined): GraphParams
  child(media: PulledItem): GraphParams
  carousel(content: Content): GraphParams
  statusFields: string
  readStatus(text: string): ContainerStatus | null
  /** Reasons for a failure that making the container again cannot mend, each with what it means to people. */
  problems: readonly (readonly [problem: RegExp, message: string])[]
}

export interface PulledItem {
  item: MediaItem
  /** Where the platform gets it. */
  address: string
}

interface ContainerDeps {
  api: GraphApi
  /** Apart from `api`, so that nothing slow keeps a visible call from its connection. */
  makingApi: GraphApi
  dialect: ContainerDialect
  media: Pick<PulledMedia, 'addressOf'>
  /** How long one look waits for the platform's work on an image or video. */
  processingWaitMs: number
}

const STATES: Readonly<Record<string, ContainerState>> = {
  FINISHED: 'finished',
  PUBLISHED: 'published',
  ERROR: 'failed',
  EXPIRED: 'expired',
}

/** By the platforms' own word; one that is new to us is a container that is still worked on. */
export function containerState(word: string): ContainerState {
  return STATES[word] ?? 'in-progress'
}

/** In rows of error tables: the container cannot be published any more. */
export const CONTAINER_GONE = 'container-gone'

/** Platforms drop containers after a day; older ones than this are made again in time. */
const LIFE_MS = 20 * HOUR
const MAKE_TIMEOUT_MS = 60 * SECOND
/**
 * One that was seen ready is not asked about again at once: a slow answer in the last seconds would make the post late. Shorter than
 * any doubt about a call lasts (`settleMs`), so that no other process can have published it unnoticed.
 */
const SIGHT_LIFE_MS = 12 * SECOND
const MOST_SIGHTS = 10_000
/** What failed for no stated reason goes well half a minute later, if at all (platforms.md 3b). */
const MAKE_AGAIN_MS = 30 * SECOND

const WHOLE = 'container'
const childName = (index: number) => `container.${index}`

/** What is remembered of a container; an empty handle means that it has to be made again. */
interface Container {
  id: string
  createdAt: number
  /** It came out though no call of ours was seen to succeed: it must never be published again. */
  isPublished?: boolean
}

/**
 * What is to be published is first made as a container that nobody sees, which the platform fills from the addresses it is given.
 * Each container's id is safe before the next step. A carousel is a container of containers.
 */
export function createContainers({ api, makingApi, dialect, media, processingWaitMs }: ContainerDeps) {
  const { label } = api
  const seenReadyAt = new Map<string, number>()

  async function prepare(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    const known = read(log, WHOLE)
    if (!known || !(await isKept(known, post, account, log, options))) await make(post, account, log, options)
    api.warm()
  }

  /** Asked even of a container that was ready a while ago: what was published meanwhile must not be made again. */
  async function isKept(
    known: Container,
    post: OutgoingPost,
    account: Credentials,
    log: PreparationLog,
    options: CallOptions,
  ): Promise<boolean> {
    if (!isOld(known) && Date.now() - (seenReadyAt.get(known.id) ?? 0) < SIGHT_LIFE_MS) return true
    const status = await look(known.id, account, options)
    if (status.state === 'published') {
      await save(log, WHOLE, { ...known, isPublished: true })
      return true
    }
    const isUsable = status.state === 'finished' || status.state === 'in-progress'
    if (isUsable && !isOld(known)) {
      if (status.state === 'in-progress') await awaitReady(known.id, post, account, log, options)
      return true
    }
    await forget(post, log)
    if (status.state === 'failed') throw failed(status)
    return false
  }

  async function make(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    const { content } = post
    const fields =
      content.mediaItems.length > 1
        ? { ...dialect.carousel(content), children: (await children(post, account, log, options)).join(',') }
        : dialect.single(content, (await pulled(content.mediaItems, options))[0])
    const id = await create(fields, account, options)
    await save(log, WHOLE, { id, createdAt: Date.now() })
    await awaitReady(id, post, account, log, options)
  }

  async function children(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    const ids: string[] = []
    for (const [index, item] of post.content.mediaItems.entries()) {
      const known = read(log, childName(index))
      if (known && !isOld(known)) {
        ids.push(known.id)
        continue
      }
      const [media] = await pulled([item], options)
      const id = await create(dialect.child(media!), account, options)
      await save(log, childName(index), { id, createdAt: Date.now() })
      ids.push(id)
    }
    for (const id of ids) await awaitReady(id, post, account, log, options)
    return ids
  }

  async function pulled(items: MediaItem[], options: CallOptions): Promise<PulledItem[]> {
    return Promise.all(items.map(async (item) => ({ item, address: await media.addressOf(item, options) })))
  }

  async function create(fields: GraphParams, account: Credentials, { signal }: CallOptions): Promise<string> {
    const path = `/${encodeURIComponent(account.accountId)}/${dialect.createPath}`
    const call = { token: account.accessToken, signal, timeoutMs: MAKE_TIMEOUT_MS }
    return (await makingApi.post(path, fields, readMade, call)).id
  }

  async function awaitReady(
    id: string,
    post: OutgoingPost,
    account: Credentials,
    log: PreparationLog,
    options: CallOptions,
  ): Promise<void> {
    const lookOnce = async () => {
      const status = await look(id, account, options)
      if (status.state === 'in-progress') return null
      if (status.state === 'finished' || status.state === 'published') return true
      await forget(post, log)
      throw status.state === 'failed' ? failed(status) : lostMedia(`${label} no longer has what was prepared`)
    }
    await whenProcessed(lookOnce, { label, waitMs: processingWaitMs, signal: options.signal })
  }

  async function look(id: string, account: Credentials, { signal }: CallOptions): Promise<ContainerStatus> {
    const params = { fields: dialect.statusFields }
    const call = { token: account.accessToken, signal }
    seenReadyAt.delete(id)
    try {
      const status = await api.get(`/${encodeURIComponent(id)}`, params, dialect.readStatus, call)
      if (status.state === 'finished') noteSight(id)
      return status
    } catch (error) {
      const isGone = error instanceof PlatformError && error.class === 'not_found'
      if (isGone || isRefusedAs(error, CONTAINER_GONE)) return { state: 'gone' }
      throw error
    }
  }

  function noteSight(id: string): void {
    if (seenReadyAt.size > MOST_SIGHTS) seenReadyAt.clear()
    seenReadyAt.set(id, Date.now())
  }

  function failed({ problem = '' }: ContainerStatus): PlatformError {
    const known = dialect.problems.find(([pattern]) => pattern.test(problem))
    const reason = { text: problem }
    if (known) return new PlatformError('validation', `${label} ${known[1]}`, { certain: true, reason })
    return new PlatformError('media_fetch_failed', `${label} could not read an image or video`, {
      certain: true,
      reason,
      retryAfterMs: MAKE_AGAIN_MS,
    })
  }

  return {
    prepare,
    look,
    forget,
    /**
     * For the call that publishes it: what was seen before that says nothing any more.
     * @throws PlatformError when there is none
     */
    take(log: PreparationLog): Container {
      const container = read(log, WHOLE)
      if (container) {
        seenReadyAt.delete(container.id)
        return container
      }
      throw new PlatformError('media_not_ready', `${label} was not given the post yet`, {
        certain: true,
        retryAfterMs: SECOND,
      })
    },
    find: (log: PreparationLog): Container | null => read(log, WHOLE),
  }
}

async function forget({ content }: OutgoingPost, log: PreparationLog): Promise<void> {
  const names = [WHOLE, ...content.mediaItems.map((_, index) => childName(index))]
  for (const name of names) if (log.handle(name)) await log.save(name, '')
}

function isOld({ createdAt }: Container): boolean {
  return Date.now() - createdAt > LIFE_MS
}

function read(log: PreparationLog, name: string): Container | null {
  const stored = log.handle(name)
  return stored ? (JSON.parse(stored) as Container) : null
}

async function save(log: PreparationLog, name: string, container: Container): Promise<void> {
  await log.save(name, JSON.stringify(container))
}
