import { once } from 'node:events'
import { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

/**
 * The event loop of a client may stall for seconds, as a test does while it searches histories. With Node's 5 s, a server has then closed the
 * connection that the client takes next, and the call fails with `other side closed`.
 */
const KEEP_ALIVE_MS = 65_000

/** Listens on loopback, on `preferredPort` or, if it is in use, on any other port. Returns the base URL. */
export async function listenOnLoopback(server: NetServer, preferredPort = 0): Promise<string> {
  try {
    await listen(server, preferredPort)
  } catch (error) {
    if (preferredPort === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    await listen(server, 0)
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function listen(server: NetServer, port: number): Promise<void> {
  if (server instanceof Server) server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

/** Stops listening and closes every connection, even during a request. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
