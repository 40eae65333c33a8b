import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { SandboxResponse } from '../proxied-platform.ts'
import { readParams, type Params } from './params.ts'
import { RefusedCall } from './refused-call.ts'

/** One request to a simulator. */
export interface Call {
  request: IncomingMessage
  url: URL
  params: Params
  /** The part of the path that the pattern captured. */
  id: string
}

export type SimulatorResponse = SandboxResponse & { bytes?: Buffer }

export type Route<C extends Call = Call> = [
  method: string,
  path: RegExp,
  handle: (call: C) => SimulatorResponse | Promise<SimulatorResponse>,
]

interface SimulatorServer<Known extends object> {
  base(): string
  routes: Route<Call & Known>[]
  /** Inspects a call before its body is read. Its headers are added to every response; it may throw a RefusedCall. */
  enter(request: IncomingMessage, url: URL, headers: OutgoingHttpHeaders): Known
  notFound(): SandboxResponse
  /** The response to internal errors. */
  failed(): SandboxResponse
  /** Rewords a refusal. */
  translate?(refusal: RefusedCall): RefusedCall
  maxBodyBytes: number
}

/**
 * The HTTP server of a simulator: finds the route, reads the parameters and sends the handler's response or refusal.
 */
export function createSimulatorServer<Known extends object>(options: SimulatorServer<Known>): Server {
  const { base, routes, enter, notFound, failed, translate = (refusal) => refusal, maxBodyBytes } = options

  async function answerTo(request: IncomingMessage): Promise<SimulatorResponse> {
    const url = new URL(request.url ?? '/', base())
    const headers: OutgoingHttpHeaders = {}
    try {
      const route = routes.find(([method, path]) => method === request.method && path.test(url.pathname))
      if (!route) throw new RefusedCall(notFound())
      const known = enter(request, url, headers)
      const [, path, handle] = route
      const params = await readParams(request, url, maxBodyBytes)
      const answer = await handle({ ...known, request, url, params, id: path.exec(url.pathname)?.[1] ?? '' })
      return { ...answer, headers: { ...headers, ...answer.headers } }
    } catch (error) {
      request.resume()
      if (!(error instanceof RefusedCall)) return failed()
      const { answer } = translate(error)
      return { ...answer, headers: { ...headers, ...answer.headers } }
    }
  }

  return createServer((request, response) => {
    void answerTo(request).then((answer) => send(response, answer))
  })
}

function send(response: ServerResponse, { status, headers, body, bytes }: SimulatorResponse): void {
  const isText = typeof body === 'string' || body === undefined
  const type = isText ? {} : { 'content-type': 'application/json; charset=utf-8' }
  response.writeHead(status, { ...type, ...headers })
  response.end(bytes ?? (isText ? body : JSON.stringify(body)))
}
