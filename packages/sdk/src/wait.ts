import { PostonceError, WaitTimeoutError, parseRetryAfter } from './errors.ts'
import type { components } from './generated/schema.ts'
import { sleep } from './sleep.ts'
import type { Transport } from './transport.ts'

export type PostProgress = components['schemas']['PostProgress']

const FINAL: ReadonlySet<string> = new Set(['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED'])
const SHORTEST_POLL_MS = 1_000
/** A scheduled post can be cancelled or moved while the caller waits. */
const LONGEST_POLL_MS = 30_000

export interface WaitOptions {
  /** How long after its time a post may still be open; 10 minutes by default. The wait for a scheduled post lasts longer by the time before. */
  timeoutAfterDueMs?: number | undefined
  /** Called with each change of the status. */
  onProgress?: ((progress: PostProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_TIMEOUT_AFTER_DUE_MS = 600_000

/**
 * Waits until a post has a final status, and returns it: `COMPLETED`, `PARTIAL_SUCCESS`, `FAILED` or `CANCELLED`.
 * @throws WaitTimeoutError when the time is over; PostonceError for a draft, which is not published
 */
export async function waitUntilPublished(
  transport: Transport,
  postId: string,
  { timeoutAfterDueMs = DEFAULT_TIMEOUT_AFTER_DUE_MS, onProgress, signal }: WaitOptions = {},
): Promise<PostProgress> {
  const startedAt = Date.now()
  let last: { etag: string | null; progress: PostProgress } | null = null
  for (;;) {
    const read: StatusResponse = await readStatus(transport, postId, last?.etag ?? null, signal)
    if (read.progress !== null) {
      last = { etag: read.etag, progress: read.progress }
      onProgress?.(read.progress)
    }
    // Only a request with an ETag gets a response without a status.
    if (last === null) throw new PostonceError('The service sent no status.')
    const { status, dueAt } = last.progress
    if (FINAL.has(status)) return last.progress
    if (status === 'DRAFT') throw new PostonceError('The post is a draft, so it is not published.')
    const dueMs = Math.max(startedAt, dueAt === null ? 0 : Date.parse(dueAt))
    if (Date.now() > dueMs + timeoutAfterDueMs) {
      throw new WaitTimeoutError(
        `The post is still ${status} ${timeoutAfterDueMs} ms after its time. It continues without this wait.`,
      )
    }
    const untilDueMs = dueMs - Date.now()
    await sleep(Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, read.retryAfterMs, untilDueMs)), signal)
  }
}

interface StatusResponse {
  /** Null when it has not changed. */
  progress: PostProgress | null
  etag: string | null
  retryAfterMs: number
}

function readStatus(
  transport: Transport,
  postId: string,
  etag: string | null,
  signal: AbortSignal | undefined,
): Promise<StatusResponse> {
  const request = {
    method: 'GET',
    path: '/api/posts/{postId}/status',
    pathParameters: { postId },
    headers: etag === null ? {} : { 'if-none-match': etag },
    signal,
  } as const
  return transport.send(request, async (response) => ({
    progress: response.status === 304 ? null : ((await response.json()) as { data: PostProgress }).data,
    etag: response.headers.get('etag'),
    retryAfterMs: (parseRetryAfter(response.headers) ?? 0) * 1_000,
  }))
}
