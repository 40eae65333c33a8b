import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import type { Duplex } from 'node:stream'
import { createResponseLimit } from '../shared/capped-fetch.ts'

const MAX_RESPONSE_BYTES = 262_144

/** A method of agents without a type: every request begins with it. */
interface RequestingAgent {
  addRequest(request: ClientRequest, options: object): void
}

export interface PushAgentOptions {
  /** The server of all connections, whatever host the requests name. */
  url: string
  /** Deadline of one request, including the connection. */
  timeoutMs: number
  connections: number
}

/**
 * An HTTP agent for a library with a fixed server address, no deadline but an idle timeout, and no limit for responses. It connects to `url`
 * and cuts requests that take or receive too much. Plain http addresses use no TLS.
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

  const requesting = agent as unknown as RequestingAgent
  const add = requesting.addRequest.bind(agent)
  requesting.addRequest = (request, options) => {
    request.prependOnceListener('response', limitResponse)
    add(request, options)
  }
  return agent
}

function limitResponse(response: IncomingMessage): void {
  const assertFits = createResponseLimit(MAX_RESPONSE_BYTES)
  // The library would expand it, to any length.
  delete response.headers['content-encoding']
  response.on('data', (piece: Buffer) => {
    try {
      assertFits(piece)
    } catch (error) {
      response.destroy(error as Error)
    }
  })
}
