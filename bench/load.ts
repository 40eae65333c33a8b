import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface HttpRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/**
 * A closed loop over HTTP: each connection sends its request again when the last one was answered. Speaks just enough HTTP by itself,
 * because a whole client would take as much of the machine as what it measures.
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
          const answer = await exchange(bytes)
          if (answer.status !== status) throw new Error(`${request.method} ${request.path}: ${answer.text}`)
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

interface Answer {
  status: number
  text: string
}

/** One request after the other on this connection. */
function exchangeOn(socket: Socket): (request: Buffer) => Promise<Answer> {
  let received = ''
  let waiting: PromiseWithResolvers<Answer> | null = null
  // One character a byte, so that lengths are those of the wire.
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    const answer = wholeAnswer(received)
    if (answer === null) return
    received = ''
    waiting?.resolve(answer)
  })
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The connection was closed')))
  return (request) => {
    waiting = Promise.withResolvers()
    socket.write(request)
    return waiting.promise
  }
}

/** Null while something is missing. */
export function wholeAnswer(text: string): Answer | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error('An answer without a length')
  if (text.length < headEnd + 4 + Number(length)) return null
  return { status: Number(text.slice(9, 12)), text: text.slice(headEnd + 4) }
}
