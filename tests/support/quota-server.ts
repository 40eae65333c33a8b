import { createServer } from 'node:http'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import type { CallPurpose, QuotaSubject } from '../../src/domain/quotas/limits.ts'
import type { QuotaObserver } from '../../src/platforms/shared/call-counter.ts'
import { createCallQuota, type CallQuotas, type QuotaNews } from '../../src/platforms/shared/call-quota.ts'
import { createHttpClient } from '../../src/platforms/shared/http.ts'
import { USER_AGENT } from './user-agent.ts'

/** Observes quotas without recording anything. */
export const SILENT_QUOTA_OBSERVER: QuotaObserver = { callRefused: () => {}, callsCounted: () => {}, paused: () => {} }

type Stated = Omit<QuotaNews, 'subject'>

/** A response of the server, and what it states about the first subject of the call. */
export interface QuotaResponse extends Stated {
  status: number
}

/** A server that answers as the test says and counts its calls. */
export async function quotaServer(answer: (call: number) => QuotaResponse | Promise<QuotaResponse>) {
  let calls = 0
  const server = createServer((_, response) => {
    calls += 1
    void Promise.resolve(answer(calls)).then(({ status, ...stated }) =>
      response.writeHead(status, { 'x-quota': JSON.stringify(stated) }).end(),
    )
  })
  const url = new URL(await listenOnLoopback(server))
  return { url, calls: () => calls, close: () => closeServer(server) }
}

interface ProcessOptions {
  url: URL
  quotas: CallQuotas | undefined
}

/** The calls that a process makes through its call quota. */
export function quotaProcess({ url, quotas }: ProcessOptions) {
  const http = createHttpClient({ userAgent: USER_AGENT, connections: 20 })
  const subjectsByCall = new WeakMap<URL, QuotaSubject[]>()
  const quota = createCallQuota({
    platform: 'mastodon',
    quotas,
    toSubjects: (call) => subjectsByCall.get(call.url)!,
    readNews: (call, answer) => {
      const stated = JSON.parse(answer.header('x-quota') ?? '{}') as Stated
      return [{ subject: subjectsByCall.get(call.url)![0]!, ...stated }]
    },
  })
  const clients = { publishing: quota.watch(http), counting: quota.throttle(http) }
  interface CallOptions {
    signal?: AbortSignal
    userId?: string
  }
  return {
    /** Makes a call and returns its status. */
    async call(purpose: CallPurpose, subjects: QuotaSubject[], options: CallOptions = {}): Promise<number> {
      const to = new URL(url)
      subjectsByCall.set(to, subjects)
      const { signal = AbortSignal.timeout(30_000), userId } = options
      return (await clients[purpose].send({ method: 'GET', url: to, signal, userId })).status
    },
    close: () => http.close(),
  }
}
