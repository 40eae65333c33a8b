import { WaitTimeoutError } from './errors.ts'
import type { components } from './generated/schema.ts'
import type { CallOptions } from './operations.ts'
import { sleep } from './sleep.ts'
import type { Transport } from './transport.ts'

type Schemas = components['schemas']

export type Import = Schemas['Import']
export type ImportRow = Schemas['ImportRow']

export interface PlanOptions {
  contentType: 'text/csv' | 'application/json'
  /** Posts of an account that are closer than this are a conflict; 5 by default, 0 allows any distance. */
  gapMinutes?: number | undefined
  /** IANA time zone of rows without one; UTC by default. */
  timezone?: string | undefined
  /** The order of day, month and year in a CSV file whose dates do not begin with the year. */
  dateOrder?: 'dmy' | 'mdy' | undefined
  signal?: AbortSignal | undefined
}

export interface ImportWaitOptions {
  /** The default is an hour. */
  timeoutMs?: number | undefined
  /** Called with every state that was read. */
  onProgress?: ((current: Import) => void) | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_TIMEOUT_MS = 3_600_000
const POLL_MS = 1_000

export async function planImport(
  transport: Transport,
  file: Blob | string,
  { contentType, signal, ...query }: PlanOptions,
): Promise<Import> {
  const { data } = await transport.sendForJson<{ data: Import }>({
    method: 'POST',
    path: '/api/imports',
    query,
    rawBody: { content: file, contentType },
    signal,
  })
  return data
}

/** Yields the rows of all pages. */
export async function* iterateImportRows(
  transport: Transport,
  importId: string,
  { status }: { status?: Schemas['ImportRowStatus'][] },
  { signal }: CallOptions,
): AsyncGenerator<ImportRow, void> {
  let cursor: string | undefined
  do {
    const { data } = await transport.sendForJson<{ data: { rows: ImportRow[]; nextCursor: string | null } }>({
      method: 'GET',
      path: '/api/imports/{importId}/rows',
      pathParameters: { importId },
      query: { status, cursor },
      signal,
    })
    yield* data.rows
    cursor = data.nextCursor ?? undefined
  } while (cursor !== undefined)
}

/**
 * Waits until an import is no longer being applied, and returns it: `completed`, `cancelled` or `paused`.
 * @throws WaitTimeoutError when the time is over; the import continues
 */
export async function waitUntilApplied(
  transport: Transport,
  importId: string,
  { timeoutMs = DEFAULT_TIMEOUT_MS, onProgress, signal }: ImportWaitOptions = {},
): Promise<Import> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const { data: current } = await transport.sendForJson<{ data: Import }>({
      method: 'GET',
      path: '/api/imports/{importId}',
      pathParameters: { importId },
      signal,
    })
    onProgress?.(current)
    if (current.state !== 'applying') return current
    if (Date.now() > deadline)
      throw new WaitTimeoutError('The import is still being applied. It continues without this wait.')
    await sleep(POLL_MS, signal)
  }
}
