import { randomUUID } from 'node:crypto'
import { isMediaType, mediaKey } from '../../domain/media/storage-keys.ts'
import { PageUnavailableError } from '../../domain/posts/link.ts'
import { toMediaKind } from '../../domain/posts/posting-rules.ts'
import { ServiceError, type Problem } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { reserveUpload } from '../media/upload-quota.ts'
import type { CommandContext } from '../context.ts'
import type { ContentInput, MediaItemInput, PostInput } from './post-input.ts'

/** For all files of a post together. Clients and proxies commonly wait a minute for a response. */
const FETCH_TIMEOUT_MS = 40 * SECOND
/** How much later the last bytes may be stored. */
const STORE_TIMEOUT_MS = 5 * SECOND
/** The longest time that `storeSources` takes. */
export const SOURCES_TIMEOUT_MS = FETCH_TIMEOUT_MS + STORE_TIMEOUT_MS
const MAX_NAME_LENGTH = 255

/** A media item that a client names by its address, and the first place where the request does. */
interface Source {
  url: string
  item: MediaItemInput
  path: string
}

type StoredSource = Required<Pick<MediaItemInput, 'storageKey' | 'mimeType' | 'sizeBytes' | 'originalFilename'>>

/** Returns whether a post names media by their addresses. */
export function hasSources(input: PostInput): boolean {
  return listSources(input).length > 0
}

/**
 * Fetches the media that a post names by their addresses, and stores them as uploads of the user. Equal addresses are fetched once.
 * @returns the input with storage keys in place of the addresses
 * @throws ServiceError MEDIA_UNREADABLE with a problem for each file that cannot be fetched, UPLOAD_QUOTA_REACHED, RATE_LIMITED
 */
export async function storeSources<T extends PostInput>(deps: CommandContext, userId: string, input: T): Promise<T> {
  const sources = listSources(input)
  if (sources.length === 0) return input
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS)
  const problems: Problem[] = []
  const stored = new Map<string, StoredSource>()
  await Promise.all(
    sources.map(async (source) => {
      try {
        stored.set(source.url, await storeSource(deps, userId, source, signal))
      } catch (error) {
        problems.push(toProblem(error, source, signal))
      }
    }),
  )
  if (problems.length > 0) throw new ServiceError('MEDIA_UNREADABLE', problems[0]!.message, { errors: problems })
  return mapMedia(input, ({ sourceUrl, ...item }) =>
    sourceUrl === undefined ? item : { ...item, ...stored.get(sourceUrl)!, ...namedBy(item) },
  )
}

/** The name that the client chose comes before that in the address. */
function namedBy({ originalFilename }: MediaItemInput): Pick<MediaItemInput, 'originalFilename'> {
  return originalFilename === undefined ? {} : { originalFilename }
}

async function storeSource(
  deps: CommandContext,
  userId: string,
  { url, item }: Source,
  signal: AbortSignal,
): Promise<StoredSource> {
  await deps.limits.mediaAddress.take(userId)
  const options = { userId, signal, kind: toMediaKind(item.mimeType), timeoutMs: FETCH_TIMEOUT_MS }
  return deps.pages.fetchMedia(url, options, async ({ mimeType, sizeBytes, bytes }) => {
    if (!isMediaType(mimeType)) throw new Error(`${mimeType} is no type of uploads`)
    const storageKey = mediaKey(userId, randomUUID(), mimeType)
    await reserveUpload(deps, { _id: storageKey, userId, bytes: sizeBytes, maxBytes: sizeBytes, isSized: true })
    try {
      await deps.storage.putArriving(
        { key: storageKey, body: bytes, sizeBytes, contentType: mimeType },
        SOURCES_TIMEOUT_MS,
      )
    } catch (cause) {
      await deps.uploads.remove(storageKey)
      if (cause instanceof PageUnavailableError || signal.aborted) throw cause
      const message = 'Object storage does not respond. Try again in a moment.'
      throw new ServiceError('SERVICE_UNAVAILABLE', message, { cause, retryAfterSeconds: 2 })
    }
    return { storageKey, mimeType, sizeBytes, originalFilename: toFileName(url, storageKey) }
  })
}

function toProblem(error: unknown, { path }: Source, signal: AbortSignal): Problem {
  const isTooLate = signal.aborted && error === signal.reason
  if (!isTooLate && !(error instanceof PageUnavailableError)) throw error
  const reason = isTooLate ? 'did not arrive in time' : (error as Error).message
  const message = `The file ${reason}. Check its address, or upload the file.`
  return { path: `${path}.sourceUrl`, code: 'MEDIA_UNREADABLE', message }
}

/** Returns the last part of an address, which names the file in most of them. */
function toFileName(url: string, storageKey: string): string {
  const last = new URL(url).pathname.split('/').at(-1)!
  return last === '' ? storageKey.split('/').at(-1)! : last.slice(0, MAX_NAME_LENGTH)
}

function listSources(input: PostInput): Source[] {
  const sources = new Map<string, Source>()
  mapMedia(input, (item, path) => {
    const { sourceUrl: url } = item
    if (url !== undefined && !sources.has(url)) sources.set(url, { url, item, path })
    return item
  })
  return [...sources.values()]
}

/** Replaces every media item of a post, which has this path in the request. */
function mapMedia<T extends PostInput>(input: T, change: (item: MediaItemInput, path: string) => MediaItemInput): T {
  const mapItems = (items: MediaItemInput[], path: string) =>
    items.map((item, index) => change(item, `${path}.mediaItems.${index}`))
  const mapContent = (content: ContentInput, path: string): ContentInput => {
    const { mediaItems, segments, link } = content
    return {
      ...content,
      ...(mediaItems && { mediaItems: mapItems(mediaItems, path) }),
      ...(segments && {
        segments: segments.map((segment, index) => {
          const items = segment.mediaItems
          return { ...segment, ...(items && { mediaItems: mapItems(items, `${path}.segments.${index}`) }) }
        }),
      }),
      ...(typeof link === 'object' &&
        link.image && { link: { ...link, image: change(link.image, `${path}.link.image`) } }),
    }
  }
  const mapOverrides = <O extends Record<string, ContentInput>>(field: string, overrides: O | undefined) =>
    overrides && {
      [field]: Object.fromEntries(
        Object.entries(overrides).map(([name, override]) => [name, mapContent(override, `${field}.${name}`)]),
      ),
    }
  return {
    ...input,
    ...(input.content && { content: mapContent(input.content, 'content') }),
    ...mapOverrides('platformSpecificContent', input.platformSpecificContent),
    ...mapOverrides('accountSpecificContent', input.accountSpecificContent),
  }
}
