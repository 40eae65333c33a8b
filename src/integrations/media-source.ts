import { MediaUnavailableError } from '../domain/failure.ts'
import type { MediaItem } from '../domain/post.ts'
import { MAX_UPLOAD_BYTES, mediaKind } from '../domain/posting-rules.ts'
import type { ObjectStorage } from './storage.ts'

/** As much of a file's beginning as telling its type can need. */
const SNIFF_BYTES = 4_100

/** Types that differ from what we store only by name. */
const SAME_AS: Record<string, string> = { 'image/jpg': 'image/jpeg', 'video/x-m4v': 'video/mp4' }

/** Opens a post's media, after making sure that it is what its record says. */
export function createMediaSource(storage: Pick<ObjectStorage, 'open'>) {
  return {
    /**
     * The bytes of a media item. The stream must be read or cancelled.
     * @throws MediaUnavailableError when the object is missing, too large, or not what its type says
     */
    async open(item: MediaItem, options: { signal?: AbortSignal } = {}) {
      const name = item.originalFilename ?? item.storageKey.split('/').at(-1)
      const object = await storage.open(item.storageKey, options)
      if (!object) throw new MediaUnavailableError(`The file ${name} was never uploaded, or is gone`)
      const { stream, head } = await readHead(object.stream)
      const problem = await findProblem(item, object.sizeBytes, head)
      if (problem !== null) {
        await stream.cancel()
        throw new MediaUnavailableError(`The file ${name} ${problem}`)
      }
      return { stream, sizeBytes: object.sizeBytes, mimeType: normalType(item.mimeType) }
    },
  }
}

async function findProblem(item: MediaItem, sizeBytes: number, head: Uint8Array): Promise<string | null> {
  const max = MAX_UPLOAD_BYTES[mediaKind(item.mimeType)]
  if (sizeBytes === 0) return 'is empty'
  if (sizeBytes > max) return `is too large: ${sizeBytes} of at most ${max} bytes`
  // Only processes that deliver media need it.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.mime
  if (found === undefined) return `is not ${normalType(item.mimeType)}, as it was said to be`
  return normalType(found) === normalType(item.mimeType)
    ? null
    : `is ${found}, not ${item.mimeType} as it was said to be`
}

function normalType(type: string): string {
  return SAME_AS[type] ?? type
}

/** Reads a stream's beginning and puts it back in front of the rest, which is neither read ahead nor copied. */
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
