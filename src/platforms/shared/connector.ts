import { isIP, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { SECOND } from '../../domain/shared/times.ts'
import { NoPublicAddressError } from './public-lookup.ts'
import type { ServerGuard } from './public-servers.ts'

/** How long an unused connection stays open. Servers close idle ones soon themselves. */
const SPARE_LIFE_MS = 5 * SECOND
/** The maximum number of spare connections per server. A larger burst opens further ones on demand. */
const MAX_SPARES = 8

/**
 * Opens connections ahead of need, so that a call that must be on time does not wait for TCP and TLS. It sends no extra
 * request to keep a connection warm.
 * @param guard absent: every server is called wherever it is
 */
export function createConnector(timeoutMs: number, guard?: ServerGuard) {
  const open = createOpen(timeoutMs, guard)
  const spares = new Map<string, Set<Socket>>()
  const opening = new Map<string, number>()

  function getSpares(server: string): Set<Socket> {
    const pool = spares.get(server) ?? new Set()
    spares.set(server, pool)
    return pool
  }

  function storeSpare(server: string, socket: Socket): void {
    const pool = getSpares(server).add(socket)
    socket.once('close', () => pool.delete(socket) && dropIfEmpty(server))
    setTimeout(() => pool.has(socket) && socket.destroy(), SPARE_LIFE_MS).unref()
    socket.unref()
  }

  function takeSpare(server: string): Socket | undefined {
    const pool = spares.get(server)
    const socket = [...(pool ?? [])].find((spare) => !spare.destroyed)
    if (socket) pool!.delete(socket)
    dropIfEmpty(server)
    return socket?.ref()
  }

  /** Users name any number of servers, so nothing is remembered about one without spare connections. */
  function dropIfEmpty(server: string): void {
    if (spares.get(server)?.size === 0) spares.delete(server)
  }

  return {
    connect: ((options, callback) => {
      const spare = takeSpare(toServerName(options))
      if (spare) queueMicrotask(() => callback(null, spare))
      else open(options, callback)
    }) satisfies buildConnector.connector,

    /** Opens a connection for the next call. Errors are left to that call. */
    warm(url: URL): void {
      const { protocol, host, port } = url
      const options = { protocol, hostname: url.hostname.replace(/^\[|\]$/g, ''), host, port }
      const server = toServerName(options)
      const openingCount = opening.get(server) ?? 0
      if ((spares.get(server)?.size ?? 0) + openingCount >= MAX_SPARES) return
      opening.set(server, openingCount + 1)
      open(options, (error, socket) => {
        const stillOpening = opening.get(server)! - 1
        if (stillOpening > 0) opening.set(server, stillOpening)
        else opening.delete(server)
        if (!error) storeSpare(server, socket)
      })
    },

    close(): void {
      for (const socket of [...spares.values()].flatMap((pool) => [...pool])) socket.destroy()
    },
  }
}

/** Connects to trusted servers as they are, and to all others by https at a public address. */
function createOpen(timeoutMs: number, guard: ServerGuard | undefined): buildConnector.connector {
  // Over HTTP/1.1 each request has its own connection, so a broken connection ends only one call.
  const options = { timeout: timeoutMs, allowH2: false }
  const openAny = buildConnector(options)
  if (!guard) return openAny
  const openPublic = buildConnector({ ...options, lookup: guard.lookup })

  return (server, callback) => {
    if (guard.isTrusted(`${server.protocol}//${server.host}`)) return openAny(server, callback)
    if (server.protocol === 'https:' && isIP(server.hostname) === 0) return openPublic(server, callback)
    queueMicrotask(() => callback(new NoPublicAddressError(), null))
  }
}

function toServerName({
  protocol,
  hostname,
  port,
}: Pick<buildConnector.Options, 'protocol' | 'hostname' | 'port'>): string {
  return `${protocol}//${hostname}:${port}`
}
