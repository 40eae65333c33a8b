import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Stripe } from 'stripe'
import { raceAbort } from '../../flow/deadlines.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { cappedFetch } from '../shared/capped-fetch.ts'
import type { PaymentCallOutcome } from '../../telemetry/metrics.ts'

/** The API version of the installed package, which its types and our readers match. */
const API_VERSION = '2026-10-28.endive'
const MAX_RESPONSE_BYTES = 2 * 1_048_576
/** Retries, with the same idempotency key and within the same deadline. */
const RETRIES = 1

interface ClientOptions {
  secretKey: string
  /** Base address of the API. */
  url: string
  userAgent: string
  /** Deadline of a whole call, retries included. */
  timeoutMs: number
  /** Called with the outcome of every call. */
  onCall?: (outcome: PaymentCallOutcome) => void
}

/**
 * Makes calls with the processor's library, which is loaded with the first one.
 * @throws PaymentsError
 */
export function createPaymentsClient({ secretKey, url, userAgent, timeoutMs, onCall = () => {} }: ClientOptions) {
  const deadlines = new AsyncLocalStorage<AbortSignal>()
  const limitedFetch = cappedFetch({ maxBytes: MAX_RESPONSE_BYTES, userAgent })
  let opened: Promise<Stripe> | undefined

  async function open(): Promise<Stripe> {
    const { Stripe } = await import('stripe')
    const { protocol, hostname, port } = new URL(url)
    const scheme = protocol === 'http:' ? 'http' : 'https'
    return new Stripe(secretKey, {
      apiVersion: API_VERSION,
      protocol: scheme,
      host: hostname,
      port: port || (scheme === 'http' ? 80 : 443),
      httpClient: Stripe.createFetchHttpClient(fetchBeforeDeadline),
      timeout: timeoutMs,
      maxNetworkRetries: RETRIES,
      telemetry: false,
    })
  }

  /** The library's own deadline restarts with every retry. */
  function fetchBeforeDeadline(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const signals = [init?.signal, deadlines.getStore()].flatMap((signal) => signal ?? [])
    return limitedFetch(input, { ...init, signal: AbortSignal.any(signals) })
  }

  return async function call<T extends object>(aim: string, request: (client: Stripe) => Promise<T>): Promise<T> {
    const client = await (opened ??= open())
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const pending = deadlines.run(deadline, () => retryWhileBusy(() => request(client), deadline))
      const response = await raceAbort(pending, deadline)
      assertSuccess(response)
      onCall('answered')
      return response
    } catch (error) {
      const failure = toPaymentsError(aim, error as Failure, deadline.aborted)
      onCall(failure.isRefused ? 'refused' : 'failed')
      throw failure
    }
  }
}

/** Codes while another call with this key or object runs. A later repeat gets its response. */
const BUSY = new Set(['idempotency_key_in_use', 'lock_timeout'])
const RETRY_DELAY_MS = 300

async function retryWhileBusy<T>(request: () => Promise<T>, deadline: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      const { code } = error as Failure
      if (code === undefined || !BUSY.has(code)) throw error
      await delay(RETRY_DELAY_MS, undefined, { signal: deadline })
    }
  }
}

/** The library treats every JSON without a processor error as a success, also that of a gateway in between. */
function assertSuccess({ lastResponse }: { lastResponse?: { statusCode: number } }): void {
  const { statusCode = 200 } = lastResponse ?? {}
  if (statusCode >= 300) throw Object.assign(new Error('not an answer of the processor'), { statusCode })
}

/** The library's error; without a status the request could not be sent or its response not read. */
interface Failure {
  statusCode?: number
  code?: string
  detail?: { cause?: { code?: string } }
}

/** Statuses that do not refuse the call itself: they are temporary, or an operator can fix them. */
const TEMPORARY_STATUSES = [401, 403, 408, 409, 425, 429]

/** Leaves out the processor's message, which repeats addresses and keys. */
function toPaymentsError(aim: string, { statusCode, code, detail }: Failure, isLate: boolean): PaymentsError {
  const known = [statusCode ?? 'nothing usable', code, detail?.cause?.code]
  const answered = isLate ? 'nothing in time' : known.filter(Boolean).join(' ')
  const isRefused = statusCode !== undefined && statusCode < 500 && !TEMPORARY_STATUSES.includes(statusCode)
  return new PaymentsError(`Asked to ${aim}, the processor answered ${answered}`, {
    isRefused: isRefused && !isLate,
    reason: code ?? null,
  })
}

/** Resolves to null when the processor does not know the object. */
export async function nullIfMissing<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (error instanceof PaymentsError && error.reason === 'resource_missing') return null
    throw error
  }
}

export function isRefusal(error: unknown): boolean {
  return error instanceof PaymentsError && error.isRefused
}
