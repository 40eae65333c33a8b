import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { poll } from './service-in-process.ts'

/** A request that arrived. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: { id: string; sequence: number; type: string; timestamp: string; data: Record<string, unknown> }
}

/** Answers a request. A function that does not end the response lets the sender wait. */
export type Respond = (received: Received, response: ServerResponse) => void

const accept: Respond = (_, response) => void response.writeHead(204).end()

/** Starts a receiver of webhooks on the loopback interface. Paths separate the webhooks of tests. */
export async function startReceiver() {
  const requests: Received[] = []
  const responds = new Map<string, Respond>()
  const server = createServer((request, response) => void receive(request, response))

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const event = JSON.parse(body) as Received['event']
    const received = { path: request.url!, headers: request.headers, body, event }
    requests.push(received)
    const respond = responds.get(received.path) ?? accept
    respond(received, response)
  }

  server.listen(0, '127.0.0.1')
  // The receiver of a fault run is never stopped.
  server.unref()
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const requestsTo = (path: string) => requests.filter((request) => request.path === path)

  return {
    origin,
    /** Returns what has arrived at a path, in order. */
    requestsTo,
    /** Sets how a path responds from now on. */
    respond: (path: string, respond: Respond): void => void responds.set(path, respond),
    /** Responds with 204 from now on. */
    accept: (path: string): void => void responds.delete(path),
    /** Waits until this many requests have arrived at a path. */
    until: (path: string, count: number, timeoutMs?: number): Promise<Received[]> =>
      poll(
        async () => requestsTo(path),
        ({ length }) => length >= count,
        timeoutMs,
      ),
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** @throws when no signature of the request was made with the secret */
export function verifySignature(secret: string, { body, headers }: Pick<Received, 'body' | 'headers'>): void {
  new Webhook(secret).verify(body, headers as Record<string, string>)
}

/** A response with this status and these headers. */
export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (_, response) =>
    void response.writeHead(code, headers).end(body)

/** Never responds. */
export const hang: Respond = () => undefined
