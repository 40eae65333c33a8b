import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Stripe } from 'stripe'
import { raceAbort } from '../../deadlines.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { cappedFetch } from '../shared/capped-fetch.ts'
import type { PaymentCallOutcome } from '../../telemetry/metrics.ts'

/** Of the installed package: answers are read, and types checked, as this version has them. */
const API_VERSION = '2026-10-28.endive'
const MAX_ANSWER_BYTES = 2 * 1_048_576
/** With the same idempotency key, within the same deadline. */
const REPEATS = 1

interface ClientOptions {
  secretKey: string
  /** Base address of the API. */
  url: string
  userAgent: string
  /** Of a whole call, repeats included. */
  timeoutMs: number
  /** Told of every call what it came to. */
  onCall?: (outcome: PaymentCallOutcome) => void
}

/** Makes calls by the processor's library, which is loaded with the first one. @throws PaymentsError */
export function createPaymentsClient({ secretKey, url, userAgent, timeoutMs, onCall = () => {} }: ClientOptions) {
  const deadlines = new AsyncLocalStorage<AbortSignal>()
  const limitedFetch = cappedFetch({ maxBytes: MAX_ANSWER_BYTES, userAgent })
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
      maxNetworkRetries: REPEATS,
      telemetry: false,
    })
  }

  /** The library's own deadline begins anew with every repeat. */
  function fetchBeforeDeadline(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const signals = [init?.signal, deadlines.getStore()].flatMap((signal) => signal ?? [])
    return limitedFetch(input, { ...init, signal: AbortSignal.any(signals) })
  }

  return async function call<T extends object>(aim: string, ask: (client: Stripe) => Promise<T>): Promise<T> {
    const client = await (opened ??= open())
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const asking = deadlines.run(deadline, () => whenFree(() => ask(client), deadline))
      const answer = await raceAbort(asking, deadline)
      assertSuccess(answer)
      onCall('answered')
      return answer
    } catch (error) {
      const failure = failureOf(aim, error as Failure, deadline.aborted)
      onCall(failure.isRefused ? 'refused' : 'failed')
      throw failure
    }
  }
}

/** Another call with this key, or about this object, is still being done: who waits for its end gets the same answer. */
const BUSY = new Set(['idempotency_key_in_use', 'lock_timeout'])
const LOOK_AGAIN_MS = 300

async function whenFree<T>(ask: () => Promise<T>, deadline: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const { code } = error as Failure
      if (code === undefined || !BUSY.has(code)) throw error
      await delay(LOOK_AGAIN_MS, undefined, { signal: deadline })
    }
  }
}

/** The library takes every JSON that names no error of the processor for a success: one of a gateway in between, too. */
function assertSuccess({ lastResponse }: { lastResponse?: { statusCode: number } }): void {
  const { statusCode = 200 } = lastResponse ?? {}
  if (statusCode >= 300) throw Object.assign(new Error('not an answer of the processor'), { statusCode })
}

/** Of the library's errors; what could not be sent or read has no status. */
interface Failure {
  statusCode?: number
  code?: string
  detail?: { cause?: { code?: string } }
}

/** Answers that say nothing of the call itself: they pass, or an operator can mend them. */
const PASSING = [401, 403, 408, 409, 425, 429]

/** Without the processor's own words: they repeat addresses and keys. */
function failureOf(aim: string, { statusCode, code, detail }: Failure, isLate: boolean): PaymentsError {
  const known = [statusCode ?? 'nothing usable', code, detail?.cause?.code]
  const answered = isLate ? 'nothing in time' : known.filter(Boolean).join(' ')
  const isRefused = statusCode !== undefined && statusCode < 500 && !PASSING.includes(statusCode)
  return new PaymentsError(`Asked to ${aim}, the processor answered ${answered}`, {
    isRefused: isRefused && !isLate,
    reason: code ?? null,
  })
}

/** Null when the processor does not know what it was asked about. */
export async function nullIfMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PaymentsError && error.reason === 'resource_missing') return null
    throw error
  }
}

export function isRefusal(error: unknown): boolean {
  return error instanceof PaymentsError && error.isRefused
}
