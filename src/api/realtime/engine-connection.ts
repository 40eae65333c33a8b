import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'socket.io'
import type { SocketTransport } from '../../telemetry/metrics.ts'
import type { NotificationView } from '../notifications/schema.ts'
import type { Connections, OpenConnection } from './connections.ts'
import { CLOSE_DETAILS } from './close-details.ts'

export interface ClientEvents {
  auth: (presented: unknown, acknowledge: unknown) => void
}
export interface ServerEvents {
  notification: (notification: NotificationView) => void
  error: (problem: { message: string; code: string }) => void
}
export type ClientSocket = Socket<ClientEvents, ServerEvents>
export type EngineSocket = ClientSocket['conn']

/** What the bytes for a client leave this process by: the raw socket of a WebSocket, or the answer to a poll. */
export type OutputStream = Duplex | ServerResponse

interface ConnectionResources {
  streams(id: string): ReadonlySet<OutputStream>
  sockets(id: string): ReadonlySet<ClientSocket>
}

/** Counts what waits for the client of an engine's connection, and closes it as the engine would not: in time. */
export function openConnection(
  conn: EngineSocket,
  connections: Connections,
  { streams: wires, sockets: conversations }: ConnectionResources,
): OpenConnection {
  const id = getConnectionId(conn)
  let queued = 0

  const connection = connections.open({
    transport: () => conn.transport.name as SocketTransport,
    bufferedBytes: () => [...wires(id)].reduce((sum, wire) => sum + wire.writableLength, queued),
    end(ending) {
      const { message, code, isFinal } = CLOSE_DETAILS[ending]
      for (const socket of [...conversations(id)]) {
        socket.emit('error', { message, code })
        // Told by the protocol itself, a client does not try again.
        if (isFinal) socket.disconnect()
      }
      close()
    },
    destroy() {
      conn.close(true)
      for (const wire of [...wires(id)]) wire.destroy()
    },
  })

  /**
   * A client that polls is told with its next poll. Were the engine asked before it, it would keep the connection for
   * half a minute, whatever it is told then.
   */
  function close(): void {
    const { transport } = conn
    if (transport.name !== 'polling' || transport.writable) conn.close()
    else transport.once('ready', close)
  }

  conn.on('packetCreate', ({ data = '' }: Packet) => void (queued += data.length))
  conn.on('flush', () => void (queued = 0))
  conn.on('packet', ({ type, data }: Packet) => {
    if (!connection.countMessage()) return
    if (type === 'message' && typeof data !== 'string') connection.end('garbled')
  })
  conn.on('upgrade', () => connection.updateTransport())
  conn.once('close', (reason: string) => {
    if (reason === 'ping timeout') connection.end('slow')
    connection.remove()
  })
  return connection
}

interface Packet {
  type: string
  data?: string | Buffer
}

/** The type hides it, and every request of a client names it. */
export function getConnectionId(conn: EngineSocket): string {
  return (conn as unknown as { id: string }).id
}
