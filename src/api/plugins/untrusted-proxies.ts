import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

/**
 * Warns once per process when a forwarding header arrives from an untrusted peer. Usually the peer is a proxy that is missing in
 * `TRUSTED_PROXIES`: then all clients behind it count as a single address and share its limits.
 */
export const untrustedProxies = fastifyPlugin(
  async (app: FastifyInstance) => {
    let hasWarned = false

    app.addHook('onRequest', async (request) => {
      if (hasWarned || request.headers['x-forwarded-for'] === undefined) return
      // Fastify lists further addresses only when it trusts the peer.
      if ((request.ips?.length ?? 1) > 1) return
      hasWarned = true
      request.log.warn(
        { peer: request.socket.remoteAddress },
        'forwarded address ignored: peer is not in TRUSTED_PROXIES',
      )
    })
  },
  { name: 'untrusted-proxies', fastify: '5.x' },
)
