import { raceAbort } from '../../flow/deadlines.ts'
import type { CallPurpose, CallWindows, QuotaSubject, ReportedLimit } from '../../domain/quotas/limits.ts'
import type { PublicationLedger } from '../../domain/quotas/publications.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { createCallCounter, type QuotaObserver } from './call-counter.ts'
import { HttpFailure, type HttpClient, type HttpRequest, type HttpResponse } from './http.ts'
import { createPublicationReporter } from './publication-reporter.ts'

type Call = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body' | 'publisher'>
type QuotaResponse = Pick<HttpResponse, 'status' | 'header' | 'text'>

/** The quotas that all processes share. */
export interface CallQuotas {
  windows: CallWindows
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
}

/**
 * Creates HTTP clients whose calls are counted first. All processes share the quotas, and learn within two seconds when the
 * platform accepts no calls.
 */
export function createCallQuota({ platform, quotas, toSubjects, readNews }: CallQuotaOptions) {
  if (!quotas) return { watch: (http: HttpClient) => http, throttle: (http: HttpClient) => http }
  const counter = createCallCounter({ platform, ...quotas })
  const reportPublications = createPublicationReporter(quotas.publications)

  async function takeAll(purpose: CallPurpose, call: HttpRequest): Promise<void> {
    try {
      const taking = toSubjects(call).map((one) => counter.take(one, purpose, call.userId))
      await raceAbort(Promise.all(taking), call.signal)
    } catch (error) {
      if (!call.signal.aborted) throw error
      throw new HttpFailure('was not called before the attempt ended', { sent: false, cause: error })
    }
  }

  function record({ subject, isPublication = false, reported = [], pauseMs = 0 }: QuotaNews): void {
    const valid = reported.filter(isValid)
    if (isPublication) return reportPublications(subject, valid)
    counter.report(subject, valid)
    const spent = valid.filter(({ remaining }) => remaining === 0)
    const longestMs = Math.max(pauseMs, ...spent.map(({ resetsInMs }) => resetsInMs))
    if (longestMs > 0) counter.pause(subject, longestMs)
  }

  const limit =
    (purpose: CallPurpose) =>
    (http: HttpClient): HttpClient => ({
      ...http,
      async send(call) {
        await takeAll(purpose, call)
        const response = await http.send(call)
        for (const news of readNews(call, response)) record(news)
        return response
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
