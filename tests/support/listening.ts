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
