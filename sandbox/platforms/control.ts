import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Faults } from './faults.ts'
import {
  ControlError,
  type Control,
  type ControlCall,
  type LoggedRequest,
  type ProxiedPlatform,
} from './proxied-platform.ts'

export interface ControlDeps {
  platform: ProxiedPlatform
  faults: Faults
  requests(): LoggedRequest[]
}

/** Creates the control interface of a simulated platform: the common controls and the platform's own. */
export function createControlServer(deps: ControlDeps): Server {
  const controls = [...usualControls(deps), ...(deps.platform.controls ?? [])]
  return createServer((request, response) => {
    route(controls, request).then(
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

async function route(controls: Control[], request: IncomingMessage): Promise<unknown> {
  const { pathname } = new URL(request.url ?? '/', 'http://control')
  const [, path, act] = controls.find(([method, path]) => method === request.method && path.test(pathname)) ?? []
  if (!path || !act) throw new ControlError(404, `No such control: ${request.method} ${pathname}`)
  const id = decodeURIComponent(path.exec(pathname)?.[1] ?? '')
  return (await act({ id, body: () => readJson(request) })) ?? { done: true }
}

function usualControls({ platform, faults, requests }: ControlDeps): Control[] {
  // An id may contain slashes, as AT URIs do, encoded or not.
  const verb = (path: RegExp, act: (call: ControlCall) => Promise<boolean> | undefined): Control => [
    'POST',
    path,
    async (call) => {
      if (!(await act(call))) throw new ControlError(404, `Not found: ${call.id}`)
    },
  ]
  return [
    ['GET', /^\/ledger$/, () => platform.ledger()],
    ['GET', /^\/requests$/, requests],
    ['GET', /^\/faults$/, faults.list],
    [
      'POST',
      /^\/faults$/,
      async ({ body }) => {
        const problem = faults.add(await body())
        if (problem) throw new ControlError(400, problem)
        return { faults: faults.list() }
      },
    ],
    [
      'DELETE',
      /^\/faults$/,
      () => {
        faults.clear()
        return { faults: [] }
      },
    ],
    verb(/^\/accounts\/(.+)\/revoke$/, ({ id }) => platform.revoke?.(id)),
    verb(/^\/accounts\/(.+)\/expire$/, ({ id }) => platform.expire?.(id)),
    verb(
      /^\/accounts\/(.+)\/metrics$/,
      async ({ id, body }) => platform.setAccountMetrics?.(id, await metricsIn(body)) ?? false,
    ),
    [
      'POST',
      /^\/accounts\/(.+)\/posts$/,
      async ({ id, body }) => {
        const published = await platform.publishElsewhere?.(id, postIn(await body()))
        if (!published) throw new ControlError(404, `Not found: ${id}`)
        return published
      },
    ],
    verb(/^\/posts\/(.+)\/delete$/, ({ id }) => platform.deletePost?.(id)),
    verb(
      /^\/posts\/(.+)\/metrics$/,
      async ({ id, body }) => platform.setPostMetrics?.(id, await metricsIn(body)) ?? false,
    ),
  ]
}

/** A missing body counts as an empty object. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse((await text(request)) || '{}') as unknown
  } catch {
    throw new ControlError(400, 'The body is not JSON')
  }
}

function postIn(body: unknown): { text: string; createdAt: Date } {
  const { text, createdAt = new Date().toISOString() } = body as { text?: unknown; createdAt?: unknown }
  if (typeof text !== 'string' || typeof createdAt !== 'string' || Number.isNaN(Date.parse(createdAt))) {
    throw new ControlError(400, 'A post is {text, createdAt}; createdAt defaults to now')
  }
  return { text, createdAt: new Date(createdAt) }
}

async function metricsIn(body: ControlCall['body']): Promise<Record<string, number>> {
  const metrics = await body()
  const isMetrics =
    typeof metrics === 'object' &&
    metrics !== null &&
    Object.values(metrics).every((value) => Number.isInteger(value) && value >= 0)
  if (!isMetrics) throw new ControlError(400, 'Metrics must be an object of non-negative integers')
  return metrics as Record<string, number>
}
