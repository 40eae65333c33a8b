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

/** The stream that carries bytes to a client: the raw socket of a WebSocket, or the response to a poll. */
export type OutputStream = Duplex | ServerResponse

interface ConnectionResources {
  streams(id: string): ReadonlySet<OutputStream>
  sockets(id: string): ReadonlySet<ClientSocket>
}

/** Tracks the buffered bytes of an Engine.IO connection, and closes the connection without the delay of the engine. */
export function openConnection(
  conn: EngineSocket,
  connections: Connections,
  { streams, sockets }: ConnectionResources,
): OpenConnection {
  const id = getConnectionId(conn)
  let queued = 0

  const connection = connections.open({
    transport: () => conn.transport.name as SocketTransport,
    bufferedBytes: () => [...streams(id)].reduce((sum, stream) => sum + stream.writableLength, queued),
    end(ending) {
      const { message, code, isFinal } = CLOSE_DETAILS[ending]
      for (const socket of [...sockets(id)]) {
        socket.emit('error', { message, code })
        // After a protocol disconnect, the client does not reconnect.
        if (isFinal) socket.disconnect()
      }
      close()
    },
    destroy() {
      conn.close(true)
      for (const stream of [...streams(id)]) stream.destroy()
    },
  })

  /**
   * Closes the connection. A polling client gets the close packet with its next poll: when closed between two polls, the engine
   * would hold the connection for half a minute.
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
    if (type === 'message' && typeof data !== 'string') connection.end('malformed')
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

/** Returns the connection id, which every request of the client contains. The types of Engine.IO hide it. */
export function getConnectionId(conn: EngineSocket): string {
  return (conn as unknown as { id: string }).id
}
