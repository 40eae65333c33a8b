import { parentPort, workerData } from 'node:worker_threads'
import { parseJson } from '../../domain/shared/json-text.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { readDataUrl } from './data-url.ts'

/** Runs one job of `large-texts.ts` in a thread, sends its result and ends. */

export type TextJob = { kind: 'json'; bytes: Uint8Array<ArrayBuffer> } | { kind: 'dataUrls'; urls: string[] }

/** `refusal` holds the parts of a ServiceError, because classes do not survive the transfer between threads. */
export type TextResult = { value: unknown } | { refusal: Pick<ServiceError, 'code' | 'message' | 'errors'> }

function run(job: TextJob): TextResult {
  try {
    return { value: job.kind === 'json' ? parseJson(job.bytes) : job.urls.map(readDataUrl) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { refusal: { code: error.code, message: error.message, errors: error.errors } }
  }
}

parentPort!.postMessage(run(workerData as TextJob))
