import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface HttpRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/**
 * Runs a closed loop over HTTP: each connection repeats its request after every response. It implements only the necessary HTTP,
 * because a complete client would use as much processor time as the measured server.
 */
export async function putLoad(url: string, requests: HttpRequest[], status: number, seconds: number) {
  const sockets = await Promise.all(requests.map(() => open(url)))
  const startedAt = performance.now()
  const end = startedAt + seconds * 1_000
  let answered = 0
  try {
    await Promise.all(
      requests.map(async (request, index) => {
        const bytes = bytesOf(request, new URL(url).host)
        const exchange = exchangeOn(sockets[index]!)
        while (performance.now() < end) {
          const response = await exchange(bytes)
          if (response.status !== status) throw new Error(`${request.method} ${request.path}: ${response.text}`)
          answered += 1
        }
      }),
    )
    return { answered, seconds: (performance.now() - startedAt) / 1_000 }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return socket
}

function bytesOf({ method, path, headers, body = '' }: HttpRequest, host: string): Buffer {
  const fields = { host, ...headers, ...(method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}) }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...head, '', body].join('\r\n'))
}

interface HttpResponse {
  status: number
  text: string
}

/** Returns a function that sends one request on this connection and resolves with its response; calls must not overlap. */
function exchangeOn(socket: Socket): (request: Buffer) => Promise<HttpResponse> {
  let received = ''
  let waiting: PromiseWithResolvers<HttpResponse> | null = null
  // One character per byte, so that string lengths equal byte lengths.
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    const response = parseResponse(received)
    if (response === null) return
    received = ''
    waiting?.resolve(response)
  })
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The connection was closed')))
  return (request) => {
    waiting = Promise.withResolvers()
    socket.write(request)
    return waiting.promise
  }
}

/** Parses a complete HTTP response; null while bytes are missing. */
export function parseResponse(text: string): HttpResponse | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error('The response has no Content-Length')
  if (text.length < headEnd + 4 + Number(length)) return null
  return { status: Number(text.slice(9, 12)), text: text.slice(headEnd + 4) }
}
