import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'socket.io'
import type { SocketTransport } from '../../telemetry/metrics.ts'
import type { NotificationView } from '../notifications/schema.ts'
import type { Connections, OpenConnection } from './connections.ts'
import { FAREWELLS } from './endings.ts'

export interface FromClient {
  auth: (presented: unknown, acknowledge: unknown) => void
}
export interface ToClient {
  notification: (notification: NotificationView) => void
  error: (problem: { message: string; code: string }) => void
}
export type Conversation = Socket<FromClient, ToClient>
export type EngineSocket = Conversation['conn']

/** What the bytes for a client leave this process by: the raw socket of a WebSocket, or the answer to a poll. */
export type Wire = Duplex | ServerResponse

interface Belongings {
  wires(id: string): ReadonlySet<Wire>
  conversations(id: string): ReadonlySet<Conversation>
}

/** Counts what waits for the client of an engine's connection, and closes it as the engine would not: in time. */
export function openConnection(
  conn: EngineSocket,
  connections: Connections,
  { wires, conversations }: Belongings,
): OpenConnection {
  const id = idOf(conn)
  let queued = 0

  const connection = connections.open({
    transport: () => conn.transport.name as SocketTransport,
    outstanding: () => [...wires(id)].reduce((sum, wire) => sum + wire.writableLength, queued),
    end(ending) {
      const { message, code, isFinal } = FAREWELLS[ending]
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
    if (!connection.heard()) return
    if (type === 'message' && typeof data !== 'string') connection.end('garbled')
  })
  conn.on('upgrade', () => connection.moved())
  conn.once('close', (reason: string) => {
    if (reason === 'ping timeout') connection.end('slow')
    connection.closed()
  })
  return connection
}

interface Packet {
  type: string
  data?: string | Buffer
}

/** The type hides it, and every request of a client names it. */
export function idOf(conn: EngineSocket): string {
  return (conn as unknown as { id: string }).id
}
