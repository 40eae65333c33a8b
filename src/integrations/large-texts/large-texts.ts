import { Worker, type ResourceLimits } from 'node:worker_threads'
import { parseJson } from '../../domain/shared/json-text.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { readDataUrl, type DataUrl } from './data-url.ts'
import type { TextJob, TextResult } from './text-thread.ts'

/** Shorter texts block the process for a few milliseconds at most, less than the cost of a thread. */
const INLINE_JSON_BYTES = 1_048_576
const INLINE_DATA_URL_LENGTH = 65_536

/** The heap holds two copies of twenty megabytes of text with two bytes per character. */
const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 }

/**
 * Parses texts from clients. Large ones go to a thread with a bounded heap, so that other requests are served meanwhile and no
 * text can end the process. Callers bound the number of concurrent large texts.
 */
export function createLargeTexts() {
  return {
    /**
     * @param bytes owned by this call, because they may move to another thread
     * @throws ServiceError as `parseJson` does, and PAYLOAD_TOO_LARGE for a text that needs more memory than a thread has
     */
    parseJson: async (bytes: Uint8Array<ArrayBuffer>): Promise<unknown> =>
      bytes.length <= INLINE_JSON_BYTES ? parseJson(bytes) : runOnThread({ kind: 'json', bytes }),

    /** Decodes base64 data URLs; null for any other text. */
    readDataUrls: async (urls: string[]): Promise<(DataUrl | null)[]> =>
      urls.reduce((length, url) => length + url.length, 0) <= INLINE_DATA_URL_LENGTH
        ? urls.map(readDataUrl)
        : ((await runOnThread({ kind: 'dataUrls', urls })) as (DataUrl | null)[]),
  }
}

function runOnThread(job: TextJob): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./text-thread.ts', import.meta.url), {
      workerData: job,
      transferList: job.kind === 'json' ? [job.bytes.buffer] : [],
      resourceLimits: LIMITS,
      env: {},
    })
    thread.once('message', (result: TextResult) => {
      if ('value' in result) return resolve(result.value)
      const { code, message, errors } = result.refusal
      reject(new ServiceError(code, message, errors ? { errors } : {}))
    })
    thread.once('error', (error: Error & { code?: string }) => {
      const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      const message = 'Request body is too large. Send a smaller one.'
      reject(isOutOfMemory ? new ServiceError('PAYLOAD_TOO_LARGE', message, { cause: error }) : error)
    })
    thread.once('exit', () => reject(new Error('A thread ended without a result')))
  })
}

export type LargeTexts = ReturnType<typeof createLargeTexts>
