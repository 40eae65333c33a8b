import { Agent, createServer, request as sendRequest } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createControlServer } from './control.ts'
import { createFaults, type FaultAction } from './faults.ts'
import { flood } from './flood.ts'
import { closeServer, listenOnLoopback } from './listen.ts'
import type { SandboxResponse, LoggedRequest, ProxiedPlatform } from './proxied-platform.ts'

export interface FaultProxyOptions {
  platform: ProxiedPlatform
  /**
   * Returns the base URL of the real server for a path. Called for every request, since the server may start after its
   * proxy.
   */
  target: (path: string) => string
  port?: number
  controlPort?: number
}

export interface FaultProxy {
  /** The URL for clients of the platform. */
  url: string
  /** Base URL of the control interface. */
  control: string
  /** Removes all faults and forgets the logged requests. */
  reset(): void
  stop(): Promise<void>
}

/** The response to requests without a User-Agent: public servers refuse them, so every simulator does. */
const NAMELESS: FaultAction = { status: 403, body: 'Forbidden: requests need a User-Agent' }
const LOG_LENGTH = 50_000
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
])

/** Proxies a platform's real server, logs the requests and applies the configured faults. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { platform } = options
  const faults = createFaults()
  const log: LoggedRequest[] = []
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 1_000 })

  function logRequest(request: IncomingMessage): LoggedRequest {
    const entry: LoggedRequest = {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      account: platform.accountOf?.(request) ?? null,
      userAgent: request.headers['user-agent'] || null,
      receivedAt: new Date().toISOString(),
      status: null,
    }
    log.push(entry)
    if (platform.publishes?.(entry.method, entry.path)) noteText(request, entry)
    // Trimmed in large pieces: removing one entry of a long array per request would cost more than the request.
    if (log.length > LOG_LENGTH * 2) log.splice(0, log.length - LOG_LENGTH)
    return entry
  }

  /** Reads the body in parallel to forwarding it. */
  function noteText(request: IncomingMessage, entry: LoggedRequest): void {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.once('end', () => {
      const text = platform.textOf?.(Buffer.concat(pieces).toString(), entry.path)
      if (text !== undefined) entry.text = text
    })
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = logRequest(request)
    response.on('error', () => undefined)
    const action = entry.userAgent === null ? NAMELESS : (faults.take(entry) ?? {})
    if (action.hang) return void request.resume()
    if (action.cut) return void response.destroy()
    if (action.flood) {
      request.resume()
      return flood(response, action.flood)
    }

    let body: IncomingMessage | Buffer = request
    if (action.delayMs) {
      // The body is read meanwhile, so that a client that times out has still sent its request, as on a slow network.
      const [collected] = await Promise.all([buffer(request), delay(action.delayMs)])
      body = collected
    }
    const answer = action.status === undefined ? platform.refuse?.(request) : scriptedAnswer(action)
    if (!answer) return forward(request, body, response, entry, action)
    entry.status = answer.status
    request.resume()
    await send(response, answer, action)
  }

  function forward(
    request: IncomingMessage,
    body: IncomingMessage | Buffer,
    response: ServerResponse,
    entry: LoggedRequest,
    action: FaultAction,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const upstream = sendRequest(new URL(entry.path, options.target(entry.path)), {
        agent,
        method: entry.method,
        headers: endToEndHeaders(request.rawHeaders, Buffer.isBuffer(body) ? body : undefined),
        setHost: false,
      })
      upstream.once('error', reject)
      upstream.once('response', (answer) => {
        entry.status = answer.statusCode ?? null
        relay(answer, response, action).then(resolve, reject)
      })
      if (Buffer.isBuffer(body)) {
        upstream.end(body)
        return
      }
      response.once('close', () => {
        if (!response.writableFinished && !isDoneAnyway(action)) upstream.destroy()
      })
      body.once('error', reject)
      body.pipe(upstream)
    })
  }

  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => {
      // The real server was unreachable or closed the connection; the client sees the same.
      response.destroy()
    })
  })
  const url = await listenOnLoopback(server, options.port)
  const controlServer = createControlServer({
    platform,
    faults,
    requests: () => log.slice(-LOG_LENGTH),
  })
  const control = await listenOnLoopback(controlServer, options.controlPort)

  return {
    url,
    control,
    reset() {
      faults.clear()
      log.length = 0
    },
    async stop() {
      await Promise.all([closeServer(server), closeServer(controlServer)])
      agent.destroy()
    },
  }
}

/**
 * Returns whether the fault discards the server's response. Then the request is completed even if the client
 * disconnects.
 */
function isDoneAnyway(action: FaultAction): boolean {
  return Boolean(action.dropAfterAccept || action.holdAfterAccept || action.statusAfterAccept)
}

function scriptedAnswer({ status = 200, headers = {}, body }: FaultAction): SandboxResponse {
  return { status, headers, body }
}

async function send(response: ServerResponse, answer: SandboxResponse, action: FaultAction): Promise<void> {
  const isText = typeof answer.body === 'string' || answer.body === undefined
  const bytes = Buffer.from(isText ? ((answer.body as string | undefined) ?? '') : JSON.stringify(answer.body))
  const type = isText ? {} : { 'content-type': 'application/json' }
  response.writeHead(answer.status, {
    ...type,
    ...answer.headers,
    'content-length': bytes.length,
  })
  await writeBody(response, bytes, action)
}

async function relay(answer: IncomingMessage, response: ServerResponse, action: FaultAction): Promise<void> {
  if (isDoneAnyway(action)) {
    await buffer(answer)
    if (action.dropAfterAccept) response.destroy()
    else if (action.statusAfterAccept) {
      await send(response, scriptedAnswer({ ...action, status: action.statusAfterAccept }), action)
    }
    return
  }
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEndHeaders(answer.rawHeaders))
  if (action.truncate === undefined && action.trickleBytesPerSecond === undefined) await pipeline(answer, response)
  else await writeBody(response, await buffer(answer), action)
}

/** Writes the body as the fault demands: truncated, slowly, or both. */
async function writeBody(response: ServerResponse, bytes: Buffer, action: FaultAction): Promise<void> {
  const cut = action.truncate === undefined || action.truncate === false ? bytes.length : cutAt(action.truncate, bytes)
  const sent = bytes.subarray(0, cut)
  response.flushHeaders()
  if (action.trickleBytesPerSecond) await trickle(response, sent, action.trickleBytesPerSecond)
  else await write(response, sent)
  if (cut < bytes.length) response.destroy()
  else response.end()
}

function cutAt(truncate: number | true, bytes: Buffer): number {
  return truncate === true ? Math.floor(bytes.length / 2) : Math.min(truncate, bytes.length)
}

async function trickle(response: ServerResponse, bytes: Buffer, bytesPerSecond: number): Promise<void> {
  const pieceLength = Math.max(1, Math.floor(bytesPerSecond / 10))
  const pauseMs = (1_000 * pieceLength) / bytesPerSecond
  for (let sent = 0; sent < bytes.length && !response.destroyed; sent += pieceLength) {
    await write(response, bytes.subarray(sent, sent + pieceLength))
    await delay(pauseMs)
  }
}

/** Resolves when the operating system has the bytes, or the client has disconnected. */
function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => resolve()))
}

/** Copies the headers except those that belong to one connection. */
function endToEndHeaders(raw: string[], body?: Buffer): string[] {
  const headers: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (HOP_BY_HOP.has(name) || (body && name === 'content-length')) continue
    headers.push(raw[at]!, raw[at + 1]!)
  }
  if (body && body.length > 0) headers.push('content-length', String(body.length))
  return headers
}
