import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a platform that only records the arrival times of visible calls. Its responses take `latencyMs`. */
export async function startReceiver({ latencyMs = 0 } = {}) {
  const arrivals = new Map<string, number[]>()
  const server = createServer((request, response) => {
    const id = request.url?.slice(1) ?? ''
    arrivals.set(id, [...(arrivals.get(id) ?? []), Date.now()])
    request.resume()
    if (latencyMs === 0) response.end()
    else setTimeout(() => response.end(), latencyMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the arrival times of calls with this id, milliseconds since the epoch. */
    arrivalsOf: (id: string): number[] => arrivals.get(id) ?? [],
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
