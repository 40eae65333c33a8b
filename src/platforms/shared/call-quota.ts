import { createHash } from 'node:crypto'
import { raceAbort } from '../../flow/deadlines.ts'
import type { QuotaLedger } from '../../domain/quotas/lease.ts'
import type { CallPurpose, QuotaSubject } from '../../domain/quotas/limits.ts'
import type { PublicationLedger } from '../../domain/quotas/publications.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { HttpFailure, TOTAL_TIMEOUT_MS, type HttpClient, type HttpRequest, type HttpResponse } from './http.ts'
import { createPublicationReporter } from './publication-reporter.ts'
import { createQuotaLots, type QuotaObserver, type ReportedLimit } from './quota-lots.ts'

type Call = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body' | 'publisher'>
type QuotaResponse = Pick<HttpResponse, 'status' | 'header' | 'text'>

/** The quotas that all processes share. */
export interface CallQuotas {
  ledger: QuotaLedger
  /** Receives what responses state about the publications of accounts. */
  publications?: PublicationLedger
  observer: QuotaObserver
}

/** What a response states about one subject. */
export interface QuotaNews {
  subject: QuotaSubject
  /** True when it is the quota of an account's publications, which is not counted by calls. */
  isPublication?: boolean
  reported?: ReportedLimit[]
  /** The time for which the platform accepts no calls of the subject, milliseconds. */
  pauseMs?: number | undefined
}

interface CallQuotaOptions {
  platform: Platform
  /** Absent: the calls are not limited. */
  quotas: CallQuotas | undefined
  /** Returns the subjects whose quotas a call uses. */
  toSubjects(call: Call): QuotaSubject[]
  readNews(call: Call, response: QuotaResponse): QuotaNews[]
  /** The deadline of a call that states none, milliseconds. */
  deadlineMs?: number
}

/**
 * Creates HTTP clients whose calls take a token from the ledger first. All processes share the quotas and learn within two
 * seconds what one response reports.
 */
export function createCallQuota(options: CallQuotaOptions) {
  const { platform, quotas, toSubjects, readNews, deadlineMs = TOTAL_TIMEOUT_MS } = options
  if (!quotas) return { watch: (http: HttpClient) => http, throttle: (http: HttpClient) => http }
  const lots = createQuotaLots({ platform, ...quotas, deadlineMs })
  const reportPublications = createPublicationReporter(quotas.publications)

  async function takeAll(subjects: QuotaSubject[], purpose: CallPurpose, call: HttpRequest): Promise<void> {
    const taking = subjects.map((one) => lots.take(one, purpose, call.timeoutMs ?? deadlineMs))
    try {
      lots.assertUsable(await raceAbort(Promise.all(taking), call.signal))
    } catch (error) {
      subjects.forEach((one, index) => {
        taking[index]!.then(
          (token) => lots.giveBack(one, token),
          () => undefined,
        )
      })
      if (!call.signal.aborted) throw error
      throw new HttpFailure('was not called before the attempt ended', { sent: false, cause: error })
    }
  }

  function record({ subject, isPublication = false, reported = [], pauseMs = 0 }: QuotaNews): void {
    const valid = reported.filter(isValid)
    if (isPublication) return reportPublications(subject, valid)
    if (valid.length > 0) lots.report(subject, valid)
    if (pauseMs > 0) lots.pause(subject, pauseMs)
  }

  const limit =
    (purpose: CallPurpose) =>
    (http: HttpClient): HttpClient => ({
      ...http,
      async send(call) {
        const subjects = toSubjects(call)
        await takeAll(subjects, purpose, call)
        try {
          const response = await http.send(call)
          for (const news of readNews(call, response)) record(news)
          return response
        } finally {
          for (const subject of subjects) lots.finish(subject)
        }
      },
    })

  return {
    /** Returns a client for publishing, which may use the whole quota. */
    watch: limit('publishing'),
    /** Returns a client for calls that can wait: it refuses them while only the part for publishing remains. */
    throttle: limit('counting'),
  }
}

/** A server that states a limit of zero would never be called again. */
function isValid({ limit, remaining, resetsInMs }: ReportedLimit): boolean {
  return Number.isSafeInteger(limit) && limit > 0 && Number.isSafeInteger(remaining) && remaining >= 0 && resetsInMs > 0
}

/** Returns a hash, so that a key reveals neither a token nor a server. */
export function hashSubject(...parts: string[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('base64url')
}
