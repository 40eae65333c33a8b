import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

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
