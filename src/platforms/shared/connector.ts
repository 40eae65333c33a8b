import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { SECOND } from '../../domain/shared/times.ts'

/** How long an unused connection is kept; servers close silent ones themselves before long. */
const SPARE_LIFE_MS = 5 * SECOND
/** So many to one server at the most: what a burst needs beyond that is opened when it comes. */
const MAX_SPARES = 8

/**
 * Opens connections, and keeps some open ahead of their need. A call that has to be on time should not begin with the round trips
 * of TCP and TLS, and a request sent only to keep a connection warm would be one the server did not ask for.
 */
export function createConnector(timeoutMs: number) {
  // Over HTTP/1.1 a request has its connection for itself, so a broken connection is the end of one call only.
  const open = buildConnector({ timeout: timeoutMs, allowH2: false })
  const spares = new Map<string, Set<Socket>>()
  const opening = new Map<string, number>()

  function getSpares(server: string): Set<Socket> {
    const kept = spares.get(server) ?? new Set()
    spares.set(server, kept)
    return kept
  }

  function storeSpare(server: string, socket: Socket): void {
    const kept = getSpares(server).add(socket)
    socket.once('close', () => kept.delete(socket))
    setTimeout(() => kept.delete(socket) && socket.destroy(), SPARE_LIFE_MS).unref()
    socket.unref()
  }

  function takeSpare(server: string): Socket | undefined {
    const kept = getSpares(server)
    const socket = [...kept].find((spare) => !spare.destroyed)
    if (socket) kept.delete(socket)
    return socket?.ref()
  }

  return {
    connect: ((options, callback) => {
      const spare = takeSpare(toServerName(options))
      if (spare) queueMicrotask(() => callback(null, spare))
      else open(options, callback)
    }) satisfies buildConnector.connector,

    /** Opens a connection that the next call takes. Trouble is left for that call to meet. */
    warm(url: URL): void {
      const { protocol, host, port } = url
      const options = { protocol, hostname: url.hostname.replace(/^\[|\]$/g, ''), host, port }
      const server = toServerName(options)
      const underWay = opening.get(server) ?? 0
      if (getSpares(server).size + underWay >= MAX_SPARES) return
      opening.set(server, underWay + 1)
      open(options, (error, socket) => {
        opening.set(server, opening.get(server)! - 1)
        if (!error) storeSpare(server, socket)
      })
    },

    close(): void {
      for (const socket of [...spares.values()].flatMap((kept) => [...kept])) socket.destroy()
    },
  }
}

function toServerName({
  protocol,
  hostname,
  port,
}: Pick<buildConnector.Options, 'protocol' | 'hostname' | 'port'>): string {
  return `${protocol}//${hostname}:${port}`
}
