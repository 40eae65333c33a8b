import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

/**
 * Warns once per process when a forwarding header arrives from a peer that is not trusted. Mostly that is a proxy which
 * `TRUSTED_PROXIES` does not name: then all clients behind it count as one address, and share its limits.
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
        'X-Forwarded-For from an untrusted peer ignored; name the proxy in TRUSTED_PROXIES if it is yours',
      )
    })
  },
  { name: 'untrusted-proxies', fastify: '5.x' },
)
