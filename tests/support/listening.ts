import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { startFaultProxy } from '../../sandbox/platforms/fault-proxy.ts'
import { controlOf, type Control } from './platform-control.ts'

export interface FaultyAddress {
  url: string
  control: Control
  stop(): Promise<void>
}

/** Listens on a free port, behind a proxy that a test can make lose or refuse requests. */
export async function listenBehindFaults(app: FastifyInstance): Promise<FaultyAddress> {
  const target = await app.listen({ port: 0, host: '127.0.0.1' })
  const proxy = await startFaultProxy({ platform: { ledger: async () => [] }, target: () => target })
  return { url: proxy.url, control: controlOf(proxy.control), stop: proxy.stop }
}

/** Listens on a free port and passes connections on to a server. `interrupt` breaks those that are open. */
export async function startInterruptible(target: string) {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const interrupt = () => open.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    interrupt,
    async stop(): Promise<void> {
      server.close()
      interrupt()
      await once(server, 'close')
    },
  }
}
