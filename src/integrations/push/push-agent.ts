import { Agent } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import type { Duplex } from 'node:stream'

export interface PushAgentOptions {
  /** The server of all connections, whatever host the requests name. */
  url: string
  /** Deadline of one request, including the connection. */
  timeoutMs: number
  connections: number
}

/**
 * An HTTP agent for a library with a fixed server address and no deadline but an idle timeout. It connects to `url` and cuts
 * requests that take too long. Plain http addresses use no TLS.
 */
export function createPushAgent({ url, timeoutMs, connections }: PushAgentOptions): Agent {
  const { protocol, hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const connectSecurely = agent.createConnection.bind(agent)
  const persist = agent.keepSocketAlive.bind(agent)
  const reuse = agent.reuseSocket.bind(agent)
  const deadlines = new WeakMap<Duplex, NodeJS.Timeout>()

  function startDeadline(socket: Duplex): void {
    const cutSocket = () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`))
    deadlines.set(socket, setTimeout(cutSocket, timeoutMs))
  }

  function clearDeadline(socket: Duplex): void {
    clearTimeout(deadlines.get(socket))
  }

  agent.createConnection = (options, callback) => {
    const socket =
      protocol === 'https:'
        ? connectSecurely({ ...options, host: hostname, port: port || 443, servername: hostname }, callback)
        : connectPlainly({ host: hostname, port: Number(port || 80) })
    if (!socket) return socket
    startDeadline(socket)
    socket.once('close', () => clearDeadline(socket))
    return socket
  }
  agent.keepSocketAlive = (socket) => {
    clearDeadline(socket)
    return persist(socket)
  }
  agent.reuseSocket = (socket, request) => {
    startDeadline(socket)
    reuse(socket, request)
  }
  return agent
}
