import { createHash } from 'node:crypto'
import { MediaUnavailableError } from '../../domain/posts/failure.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { MAX_UPLOAD_BYTES, toMediaKind } from '../../domain/posts/posting-rules.ts'
import { copyKey, removedKey } from '../../domain/media/storage-keys.ts'
import { HOUR } from '../../domain/shared/times.ts'
import type { ObjectHead, ObjectStorage } from './storage.ts'
import { fileProblem, MISSING_FILE, normalizeType, SNIFF_BYTES, type FoundFile } from './stored-files.ts'

/** Copies are deleted a day after they were last stored (`cleanUploads`); an older copy than this is stored again. */
const COPY_LIFE_MS = 12 * HOUR

interface Options {
  signal?: AbortSignal
}

/** Provides a post's media after checking that it matches its record. */
export function createMediaSource(storage: ObjectStorage) {
  /** Reads an upload, and restores it when the cleanup removed it while a post started to use it. */
  async function readOrRestore<T>(item: MediaItem, options: Options, read: () => Promise<T | null>): Promise<T | null> {
    const found = await read()
    if (found !== null) return found
    await storage.move(removedKey(item.storageKey), item.storageKey, options)
    return read()
  }

  async function check(item: MediaItem, options: Options): Promise<ObjectHead> {
    const read = () => storage.readHead(item.storageKey, SNIFF_BYTES, options)
    const object = await readOrRestore(item, options, read)
    const problem = object ? await findProblem(item, object) : MISSING_FILE
    if (problem !== null) throw unavailable(item, problem)
    return object!
  }

  return {
    /**
     * Reads only the beginning of the bytes of a media item.
     * @throws MediaUnavailableError as `open`
     */
    async assertAvailable(item: MediaItem, options: Options = {}): Promise<void> {
      await check(item, options)
    },

    /**
     * Opens a media item. The stream must be read or cancelled.
     * @throws MediaUnavailableError when the object is missing, too large, or of another type
     */
    async open(item: MediaItem, options: Options = {}) {
      const object = await readOrRestore(item, options, () => storage.open(item.storageKey, options))
      if (!object) throw unavailable(item, MISSING_FILE)
      const { stream, head } = await readHead(object.stream)
      const problem = await findProblem(item, { sizeBytes: object.sizeBytes, head })
      if (problem !== null) {
        await stream.cancel()
        throw unavailable(item, problem)
      }
      return { stream, sizeBytes: object.sizeBytes, mimeType: normalizeType(item.mimeType) }
    },

    /**
     * Returns the public address of a media item. Reads only the beginning of its bytes.
     * @throws MediaUnavailableError as `open`
     */
    async publicUrl(item: MediaItem, options: Options = {}): Promise<string> {
      const { contentType } = await check(item, options)
      const type = normalizeType(item.mimeType)
      // The object still has the content type of its upload, which platforms may not know.
      if (contentType !== type) await storage.retype(item.storageKey, type, options)
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

function unavailable(item: MediaItem, problem: string): MediaUnavailableError {
  const name = item.originalFilename ?? item.storageKey.split('/').at(-1)
  return new MediaUnavailableError(`The file ${name} ${problem}`)
}

function findProblem({ mimeType }: MediaItem, file: FoundFile): Promise<string | null> {
  return fileProblem(file, { type: mimeType, maxBytes: MAX_UPLOAD_BYTES[toMediaKind(mimeType)] })
}

/** Reads the beginning of a stream and puts it back in front of the rest, which is neither read ahead nor copied. */
async function readHead(source: ReadableStream<Uint8Array>) {
  const reader = source.getReader()
  const chunks: Uint8Array[] = []
  for (let length = 0; length < SNIFF_BYTES;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  const head = Buffer.concat(chunks).subarray(0, SNIFF_BYTES)
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = chunks.shift()
        if (chunk) return controller.enqueue(chunk)
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { stream, head }
}
