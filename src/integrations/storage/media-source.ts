import { createHash } from 'node:crypto'
import { copyKey } from '../../domain/media/storage-keys.ts'
import { MediaUnavailableError } from '../../domain/posts/failure.ts'
import { findFileProblem, nameFile, type MediaFacts, type MediaFile } from '../../domain/posts/media-files.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { HOUR } from '../../domain/shared/times.ts'
import { createMediaReader } from './media-reader.ts'
import type { ObjectStorage } from './storage.ts'

/** Copies are deleted a day after they were last stored (`cleanUploads`); an older copy than this is stored again. */
const COPY_LIFE_MS = 12 * HOUR

interface Options {
  signal?: AbortSignal
}

/** Provides a post's media after reading what they are. */
export function createMediaSource(storage: ObjectStorage) {
  const read = createMediaReader(storage)

  /** @throws MediaUnavailableError */
  async function readUsable(item: MediaItem, options: Options): Promise<{ facts: MediaFacts; contentType: string }> {
    const { file, contentType } = await read(item, options)
    const problem = findFileProblem(item, file)
    if (problem !== null || file.state !== 'readable') throw new MediaUnavailableError(problem ?? nameFile(item))
    return { facts: file.facts, contentType }
  }

  return {
    /** Reads what the file of a media item is. @throws errors of object storage, and the reason of the signal */
    readFile: async (item: MediaItem, options: Options = {}): Promise<MediaFile> => (await read(item, options)).file,

    /**
     * Opens a media item. The stream must be read or cancelled.
     * @returns also the size in pixels, where the file states it
     * @throws MediaUnavailableError when the object is missing, too large, or cannot be shown
     */
    async open(item: MediaItem, options: Options = {}) {
      const { mimeType, width, height } = (await readUsable(item, options)).facts
      const object = await storage.open(item.storageKey, options)
      if (!object) throw new MediaUnavailableError(findFileProblem(item, { state: 'missing' })!)
      const { stream, sizeBytes } = object
      return { stream, sizeBytes, mimeType, ...(width !== undefined && height !== undefined && { width, height }) }
    },

    /**
     * Returns the public address of a media item.
     * @throws MediaUnavailableError as `open`
     */
    async publicUrl(item: MediaItem, options: Options = {}): Promise<string> {
      const { facts, contentType } = await readUsable(item, options)
      // The object still has the content type of its upload, which platforms may not know.
      if (contentType !== facts.mimeType) await storage.retype(item.storageKey, facts.mimeType, options)
      return storage.publicUrl(item.storageKey)
    },

    /** Stores a converted copy of a media item, unless a recent one exists, and returns its public address. */
    async storeCopy(
      item: MediaItem,
      { bytes, mimeType }: { bytes: Uint8Array; mimeType: 'image/jpeg' | 'image/png' },
      options: Options = {},
    ): Promise<string> {
      const key = copyKey(item.storageKey, createHash('sha256').update(bytes).digest('hex'), mimeType)
      const storedAt = await storage.storedAt(key, options)
      if (storedAt === null || Date.now() - storedAt.getTime() > COPY_LIFE_MS) {
        await storage.put({ key, body: bytes, contentType: mimeType }, options)
      }
      return storage.publicUrl(key)
    },
  }
}
