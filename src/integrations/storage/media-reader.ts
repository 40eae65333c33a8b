import { LRUCache } from 'lru-cache'
import { findSizeProblem, type MediaFacts, type MediaFile } from '../../domain/posts/media-files.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { MAX_UPLOAD_BYTES, MEDIA_TYPES, toMediaKind, type MediaKind } from '../../domain/posts/posting-rules.ts'
import { parseOwnerId, removedKey } from '../../domain/media/storage-keys.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { raceAbort } from '../../flow/deadlines.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { readImage } from './read-image.ts'
import { readVideo } from './read-video.ts'
import type { ObjectHead, ObjectStorage } from './storage.ts'
import { detectType, hasIndexFirst, normalizeType, SNIFF_BYTES } from './stored-files.ts'

/** A decoded image takes many times the memory of its file. */
const MAX_READS = 2
/** The longest time that one file occupies a turn. */
const READ_TIMEOUT_SECONDS = 10
const MAX_KNOWN = 10_000

const OTHER_TYPE: Record<MediaKind, string> = {
  image: 'Save it as JPEG, PNG or WebP and upload that file.',
  video: 'Convert it to MP4 and upload that file.',
}

/** Reads what stored files are. Users take turns, each file is read once, and the result is cached until its bytes change. */
export function createMediaReader(storage: ObjectStorage) {
  const limit = createFairLimit({ maxRunning: MAX_READS, perKey: 1 })
  const known = new LRUCache<string, MediaFile>({ max: MAX_KNOWN })

  /** Reads the beginning of an upload, and restores it when the cleanup removed it while a post started to use it. */
  async function readHead({ storageKey }: MediaItem, signal: AbortSignal): Promise<ObjectHead | null> {
    const read = () => storage.readHead(storageKey, SNIFF_BYTES, { signal })
    const found = await read()
    if (found) return found
    return (await storage.move(removedKey(storageKey), storageKey, { signal })) ? read() : null
  }

  async function read(item: MediaItem): Promise<{ file: MediaFile; contentType: string }> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_SECONDS * SECOND)
    const head = await readHead(item, signal)
    if (!head) return { file: { state: 'missing' }, contentType: '' }
    const version = `${item.storageKey} ${head.etag}`
    const file = known.get(version) ?? (await examine(item, head, signal))
    // What took too long may be read in full next time.
    if (file.state !== 'readable' || !file.isPartial) known.set(version, file)
    return { file, contentType: head.contentType }
  }

  async function examine(
    { storageKey }: MediaItem,
    { head, sizeBytes }: ObjectHead,
    signal: AbortSignal,
  ): Promise<MediaFile> {
    const found = sizeBytes > 0 ? await detectType(head) : undefined
    const facts: MediaFacts = { mimeType: normalizeType(found ?? ''), sizeBytes, isAnimated: found === 'image/apng' }
    const problem = findProblem(facts)
    if (problem !== null) return { state: 'unusable', problem }
    const readRange = (start: number, end: number) => storage.readRange(storageKey, start, end, { signal })
    if (toMediaKind(facts.mimeType) === 'video') {
      const isIndexFirst = hasIndexFirst(head)
      const ofVideo = { ...facts, ...(isIndexFirst !== null && { isIndexFirst }) }
      return readVideo({ sizeBytes, read: readRange }, ofVideo, signal)
    }
    const bytes = sizeBytes <= head.length ? head : await readRange(0, sizeBytes)
    return readImage(bytes, facts, { timeoutSeconds: READ_TIMEOUT_SECONDS })
  }

  /**
   * Returns what the file of a media item is, with the content type under which it is served.
   * @throws errors of object storage, and the reason of `signal`, which ends the wait
   */
  return (item: MediaItem, { signal }: { signal?: AbortSignal } = {}) => {
    const reading = limit(parseOwnerId(item.storageKey), () => read(item), { signal })
    return signal ? raceAbort(reading, signal) : reading
  }
}

function findProblem({ mimeType, sizeBytes }: MediaFacts): string | null {
  const kind = toMediaKind(mimeType)
  const isPublished = MEDIA_TYPES[kind].includes(mimeType)
  if (sizeBytes === 0 || isPublished) return findSizeProblem(sizeBytes, MAX_UPLOAD_BYTES[kind])
  if (mimeType === '') return 'is no image or video, or is damaged. Export it again and upload that file.'
  return `is ${mimeType}. ${OTHER_TYPE[kind]}`
}
