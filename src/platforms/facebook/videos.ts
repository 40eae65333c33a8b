import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isErrorClass } from '../shared/graph/errors.ts'
import { readVideo, type VideoNode } from './responses.ts'

/** A video as far as Facebook has processed it. `reason`: Facebook's explanation of a failure. */
export interface ProcessedVideo {
  state: 'processing' | 'ready' | 'failed'
  reason: { code?: number | undefined; text?: string | undefined }
  permalink: string | undefined
}

const FIELDS = 'id,permalink_url,status'
/** Words of a failed video in `video_status`. */
const FAILED = ['error', 'expired', 'upload_failed']
/** A second upload may succeed. */
const RETRY_AFTER_MS = 30 * SECOND

/** Reads the processing of a video; null when it cannot be read, as in the first moments after its upload. */
export async function fetchVideo(
  api: GraphApi,
  id: string,
  { accessToken: token }: Credentials,
  options: CallOptions & { timeoutMs?: number },
): Promise<ProcessedVideo | null> {
  try {
    const path = `/${encodeURIComponent(id)}`
    return toProcessedVideo(await api.get(path, { fields: FIELDS }, readVideo, { ...options, token }))
  } catch (error) {
    if (isErrorClass(error, 'not_found') && error.certain) return null
    throw error
  }
}

function toProcessedVideo({ status = {}, permalink_url: permalink }: VideoNode): ProcessedVideo {
  const { video_status: word = '', ...named } = status
  const phases = [named.uploading_phase, named.processing_phase, named.publishing_phase, named.copyright_check_status]
  const broken = phases.find((phase) => phase?.status === 'error')
  const [stated = broken?.error] = broken?.errors ?? []
  const reason = { code: stated?.code, text: stated?.message }
  if (broken || FAILED.includes(word)) return { state: 'failed', reason, permalink }
  const isReady = word === 'ready' || named.processing_phase?.status === 'complete'
  return { state: isReady ? 'ready' : 'processing', reason, permalink }
}

/** The error for a video that Facebook accepted and could not process. */
export function toVideoError(reason: ProcessedVideo['reason']): PlatformError {
  return new PlatformError('media_fetch_failed', 'Facebook could not process the video', {
    certain: true,
    reason,
    retryAfterMs: RETRY_AFTER_MS,
  })
}
