import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Faults } from './faults.ts'
import type { LoggedRequest, ProxiedPlatform } from './fault-proxy.ts'

export interface ControlDeps {
  platform: ProxiedPlatform
  faults: Faults
  requests(): LoggedRequest[]
}

class ControlError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The control interface of a platform in the sandbox, the same for all of them (design.md section 11). */
export function createControlServer(deps: ControlDeps): Server {
  return createServer((request, response) => {
    route(deps, request).then(
      (body) => answer(response, 200, body),
      (error: unknown) =>
        answer(response, error instanceof ControlError ? error.status : 500, {
          error: String(error),
        }),
    )
  })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function route({ platform, faults, requests }: ControlDeps, request: IncomingMessage): Promise<unknown> {
  const { pathname } = new URL(request.url ?? '/', 'http://control')
  const call = `${request.method} ${pathname}`
  if (call === 'GET /ledger') return platform.ledger()
  if (call === 'GET /requests') return requests()
  if (call === 'GET /faults') return faults.list()
  if (call === 'POST /faults') {
    const problem = faults.add(await readJson(request))
    if (problem) throw new ControlError(400, problem)
    return { faults: faults.list() }
  }
  if (call === 'DELETE /faults') {
    faults.clear()
    return { faults: [] }
  }
  // An id may hold slashes of its own, as AT URIs do, encoded or not.
  const [, kind, id, verb] = /^POST \/(accounts|posts)\/(.+)\/(revoke|expire|delete|metrics)$/.exec(call) ?? []
  const act = actions(platform)[`${kind} ${verb}`]
  if (!act || !id) throw new ControlError(404, `No such control: ${call}`)
  if (!(await act(decodeURIComponent(id), () => readMetrics(request)))) throw new ControlError(404, `Not found: ${id}`)
  return { done: true }
}

type Act = (id: string, metrics: () => Promise<Record<string, number>>) => Promise<boolean> | undefined

function actions(platform: ProxiedPlatform): Record<string, Act> {
  return {
    'accounts revoke': (id) => platform.revoke?.(id),
    'accounts expire': (id) => platform.expire?.(id),
    'accounts metrics': async (id, metrics) => (await platform.setAccountMetrics?.(id, await metrics())) ?? false,
    'posts delete': (id) => platform.deletePost?.(id),
    'posts metrics': async (id, metrics) => (await platform.setPostMetrics?.(id, await metrics())) ?? false,
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse(await text(request)) as unknown
  } catch {
    throw new ControlError(400, 'The body is not JSON')
  }
}

async function readMetrics(request: IncomingMessage): Promise<Record<string, number>> {
  const body = await readJson(request)
  const isMetrics =
    typeof body === 'object' &&
    body !== null &&
    Object.values(body).every((value) => Number.isInteger(value) && value >= 0)
  if (!isMetrics) throw new ControlError(400, 'Metrics are an object of whole numbers')
  return body as Record<string, number>
}
