import { createServer } from 'node:http'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import type { CallLimit } from '../../src/domain/quotas/limits.ts'
import { SECOND } from '../../src/domain/shared/times.ts'

export const STRICT_LIMIT: CallLimit = { span: 'short', limit: 40, windowMs: 3 * SECOND }
export const CALL_DEADLINE_MS = SECOND

/** A server that refuses a call when any window of `STRICT_LIMIT`, sliding or aligned to the clock, would exceed its limit. */
export async function strictQuotaServer() {
  const arrivals: number[] = []
  let refused = 0
  let most = 0
  const server = createServer((_, response) => {
    const now = performance.now()
    arrivals.push(now)
    // An aligned window of the same length contains no more calls than a sliding one.
    const inWindow = arrivals.filter((at) => at > now - STRICT_LIMIT.windowMs).length
    most = Math.max(most, inWindow)
    if (inWindow > STRICT_LIMIT.limit) refused += 1
    response.writeHead(inWindow > STRICT_LIMIT.limit ? 429 : 200).end()
  })
  const url = await listenOnLoopback(server)
  return {
    url,
    get counts() {
      return { calls: arrivals.length, refused, mostInWindow: most }
    },
    close: () => closeServer(server),
  }
}
