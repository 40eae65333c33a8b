import { Worker, type ResourceLimits } from 'node:worker_threads'
import type { MediaFacts, MediaFile } from '../../domain/posts/media-files.ts'
import { raceAbort } from '../../flow/deadlines.ts'
import type { ThreadInput, ThreadMessage } from './video-thread.ts'

/** A file that is read in parts. */
export interface FileSource {
  sizeBytes: number
  /** Reads from `start` up to, and without, `end`. */
  read(start: number, end: number): Promise<Uint8Array>
}

const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }
/** The index of an hour of video has a few megabytes. */
const MAX_READ_BYTES = 16_777_216
const MAX_READS = 100

/** A thread that has ended its work, since starting one takes longer than reading a file. */
let idle: Worker | null = null

function startThread(): Worker {
  const thread = new Worker(new URL('./video-thread.ts', import.meta.url), { resourceLimits: LIMITS, env: {} })
  // An error of an idle thread must not end the process.
  thread.on('error', () => {})
  thread.on('exit', () => {
    if (idle === thread) idle = null
  })
  return thread
}

function takeThread(): Worker {
  const thread = idle ?? startThread()
  idle = null
  thread.ref()
  return thread
}

async function returnThread(thread: Worker, isUsable: boolean): Promise<void> {
  if (!isUsable || idle !== null) return void (await thread.terminate())
  thread.unref()
  idle = thread
}

/**
 * Reads the index of an MP4 or QuickTime file, in a thread with a bounded heap: no file can block or end the process. A file that takes
 * more is readable in part.
 * @throws the error of `read`, or the reason of `signal`
 */
export async function readVideo(file: FileSource, facts: MediaFacts, signal: AbortSignal): Promise<MediaFile> {
  const { promise, resolve, reject } = Promise.withResolvers<MediaFile>()
  promise.catch(() => {})
  const giveUp = () => resolve({ state: 'readable', facts, isPartial: true })
  let isUsable = false
  const finish = (result: MediaFile) => {
    isUsable = true
    resolve(result)
  }
  let reads = 0
  let bytesRead = 0
  const thread = takeThread()
  const receive = (message: ThreadMessage) => {
    if (message.kind === 'unusable') return finish({ state: 'unusable', problem: message.problem })
    if (message.kind === 'facts') return finish({ state: 'readable', facts: { ...facts, ...message.facts } })
    const { id, start, end } = message
    reads += 1
    bytesRead += end - start
    if (reads > MAX_READS || bytesRead > MAX_READ_BYTES) return giveUp()
    file
      .read(start, end)
      .then((bytes) => thread.postMessage({ kind: 'bytes', id, bytes } satisfies ThreadInput), reject)
  }
  thread.on('message', receive).on('error', giveUp).on('exit', giveUp)
  thread.postMessage({ kind: 'file', sizeBytes: file.sizeBytes } satisfies ThreadInput)
  try {
    return await raceAbort(promise, signal)
  } finally {
    thread.off('message', receive).off('error', giveUp).off('exit', giveUp)
    await returnThread(thread, isUsable)
  }
}
