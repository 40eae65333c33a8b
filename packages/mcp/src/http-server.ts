import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ApiError, PostonceError } from '@postonce/sdk'
import { findForbiddenHeader, parseBearer, type AllowedCallers } from './http-checks.ts'
import { createSessions } from './http-sessions.ts'
import { UsageError } from './options.ts'
import { openSession } from './server.ts'

const PATH = '/mcp'
const SESSION_HEADER = 'mcp-session-id'
const MAX_SESSIONS_PER_KEY = 32
const MINUTE_MS = 60_000
const IDLE_MS = 30 * MINUTE_MS

export interface HttpOptions {
  /** Address of the postonce service. */
  url: string
  host: string
  /** 0 for a free port. */
  port: number
  allowed: AllowedCallers
}

export interface HttpServer {
  /** The address that clients connect to. */
  address: string
  stop(): Promise<void>
}

/** Serves MCP by Streamable HTTP. Every session uses the API key of its requests. */
export async function startHttpServer({ url, host, port, allowed }: HttpOptions): Promise<HttpServer> {
  const sessions = createSessions<StreamableHTTPServerTransport>({ maxPerKey: MAX_SESSIONS_PER_KEY, idleMs: IDLE_MS })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const forbidden = findForbiddenHeader(request.headers, allowed)
    if (forbidden !== null) return sendError(response, 403, forbidden)
    allowOrigin(request, response)
    if (request.url?.split('?', 1)[0] !== PATH) return sendError(response, 404, `The server is at ${PATH}.`)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()

    const apiKey = parseBearer(request.headers)
    if (apiKey === null) return sendError(response, 401, 'Send an API key of postonce: Authorization: Bearer po_live_…')
    const sessionId = request.headers[SESSION_HEADER]
    if (typeof sessionId !== 'string') return openTransport(apiKey, request, response)
    const transport = sessions.find(sessionId, apiKey)
    if (!transport) return sendError(response, 404, 'Session not found. Start a new one.')
    response.once('close', sessions.use(sessionId, Date.now))
    return transport.handleRequest(request, response)
  }

  /** Opens a session, which only lasts when the request is `initialize`. */
  async function openTransport(apiKey: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const server = await openSession({ url, apiKey })
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.add(id, transport, apiKey, Date.now()),
      onsessionclosed: (id) => sessions.close(id),
    })
    await server.connect(transport)
    await transport.handleRequest(request, response)
    if (transport.sessionId === undefined) await transport.close()
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => sendFailure(response, error))
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error: Error) => {
    throw new UsageError(`The server cannot listen: ${error.message}`)
  })
  const timer = setInterval(() => void sessions.closeIdle(Date.now()), MINUTE_MS)

  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}${PATH}`,
    async stop() {
      clearInterval(timer)
      const closed = once(server, 'close')
      server.close()
      await sessions.closeAll()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Lets the pages of an allowed origin read responses. Other origins are refused before. */
function allowOrigin({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
  if (origin === undefined) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
  response.setHeader(
    'access-control-allow-headers',
    `authorization, content-type, ${SESSION_HEADER}, mcp-protocol-version, last-event-id`,
  )
  response.setHeader('access-control-expose-headers', SESSION_HEADER)
  response.setHeader('vary', 'origin')
}

function sendFailure(response: ServerResponse, error: unknown): void {
  if (error instanceof ApiError && error.code === 'UNAUTHORIZED') {
    return sendError(response, 401, 'The API key is wrong, expired or deleted.')
  }
  if (error instanceof PostonceError) return sendError(response, 502, error.message)
  console.error(error)
  return sendError(response, 500, 'The request failed in the MCP server. Its log has the cause.')
}

function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.end()
  if (status === 401) response.setHeader('www-authenticate', 'Bearer')
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
}
