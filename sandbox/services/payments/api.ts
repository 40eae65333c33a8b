import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { RefusedCall } from '../../platforms/shared/refused-call.ts'
import type { Call, Route, SimulatorResponse } from '../../platforms/shared/server.ts'
import type { ApiCall, ApiRoute } from './api-route.ts'
import { refused } from './errors.ts'
import { expand } from './expand.ts'
import { createIdempotency } from './idempotency.ts'
import { nest, readAs } from './params.ts'
import type { Processor } from './processor.ts'
import { recordRoutes } from './record-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { API_VERSIONS, shapeOf } from './shapes.ts'

interface ApiDeps {
  processor: Processor
  workMs: number
}

/** The calls of the real API that our service may make. Unused parameters are refused like unknown ones. */
export function apiRoutes({ processor, workMs }: ApiDeps): Route[] {
  const { state, shapes, advanceToNow } = processor
  const once = createIdempotency({ answers: state.answers, workMs })

  async function answer([method, path, schema, run]: ApiRoute, call: Call): Promise<SimulatorResponse> {
    assertKey(call.request, state.account.secretKey)
    const version = headerOf(call.request, 'stripe-version') ?? API_VERSIONS.new
    if (!/^\d{4}-\d{2}-\d{2}([.]\w+)?$/.test(version)) {
      throw refused(400, { message: `Invalid Stripe API version: ${version}` })
    }
    const shape = shapeOf(version)
    const given = nest([...call.url.searchParams, ...call.params.fields])
    const params = readAs(schema, given) as { expand?: string[] }
    const id = decodeURIComponent(call.id)

    function work() {
      advanceToNow()
      const requestId = `req_${randomBytes(7).toString('hex')}`
      try {
        const found = run({ id, params, shape } as ApiCall<never>)
        return { status: 200, body: expand(found, params.expand ?? [], (ref) => shapes.byId(ref, shape)), requestId }
      } catch (error) {
        if (!(error instanceof RefusedCall)) throw error
        return { status: error.answer.status, body: error.answer.body, requestId }
      }
    }

    const key = method === 'POST' ? headerOf(call.request, 'idempotency-key') : undefined
    const request = [method, path.source, id, given, version]
    const done = key === undefined ? { ...work(), isReplay: false } : await once(key, request, work)
    return {
      status: done.status,
      body: done.body,
      headers: {
        'request-id': done.requestId,
        'stripe-version': version,
        ...(key !== undefined && { 'idempotency-key': key, 'original-request': done.requestId }),
        ...(done.isReplay && { 'idempotent-replayed': 'true' }),
      },
    }
  }

  const routes = [...sessionRoutes(processor), ...recordRoutes(processor)]
  return routes.map((one): Route => [one[0], one[1], (call) => answer(one, call)])
}

function assertKey(request: IncomingMessage, secretKey: string): void {
  const [, key] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
  if (key === secretKey) return
  const message =
    key === undefined
      ? 'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.'
      : `Invalid API Key provided: ${key.slice(0, 8)}${'*'.repeat(12)}${key.slice(-4)}`
  throw refused(401, { message })
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
