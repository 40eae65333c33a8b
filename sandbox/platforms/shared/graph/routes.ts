import type { IncomingMessage } from 'node:http'
import type { SandboxResponse } from '../../proxied-platform.ts'
import { RefusedCall } from '../refused-call.ts'
import type { Call, Route } from '../server.ts'
import { selectFields } from './fields.ts'
import { badParameter, GraphRefusal, noSuchObject, type GraphCall, type GraphModule } from './graph.ts'
import { graphParams } from './params.ts'

interface GraphDeps<Caller> {
  modules: GraphModule<Caller>[]
  /** The pattern before every path of the graph, without the trailing slash: `/^\/v2[3-6]\.0/`. */
  version: RegExp
  /** @throws GraphRefusal when the token is invalid */
  callerBy(token: string, call: Call): Caller
  /** The id that replaces `me`. */
  idOf(caller: Caller): string
  /** Counts a call against the limits and returns headers for the response. */
  count?(caller: Caller | null): Record<string, string>
}

/** Routes of a Graph API host: tokens, `me`, edges, and fields of nodes, with its error wording. */
export function graphRoutes<Caller>(deps: GraphDeps<Caller>): Route[] {
  const path = new RegExp(`${deps.version.source}/`)
  return ['GET', 'POST', 'DELETE'].map((method): Route => [method, path, (call) => answerTo(method, call)])

  async function answerTo(method: string, call: Call): Promise<SandboxResponse> {
    const params = graphParams(call.params)
    const token = tokenIn(call.request) ?? params.get('access_token')
    // Only the few routes that accept an application's token read it.
    const caller = token === undefined || token.includes('|') ? null : deps.callerBy(token, call)
    const headers = deps.count?.(caller) ?? {}
    try {
      const answer = await handle({ method, params, caller, ids: [] }, call.url.pathname.replace(deps.version, ''))
      return { ...answer, headers: { ...headers, ...answer.headers } }
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw error
      throw new RefusedCall({ ...error.answer, headers: { ...headers, ...error.answer.headers } })
    }
  }

  function handle(call: GraphCall<Caller>, requestPath: string): SandboxResponse | Promise<SandboxResponse> {
    const inGraph = withOwnId(requestPath.replace(/\/$/, ''), call.caller)
    for (const { routes } of deps.modules) {
      for (const [method, pattern, answer] of routes) {
        const match = method === call.method ? pattern.exec(inGraph) : null
        if (match) return answer({ ...call, ids: match.slice(1) })
      }
    }
    const id = inGraph.split('/')[1] ?? ''
    if (call.method !== 'GET' || inGraph !== `/${id}`) throw noSuchObject(id, call.method)
    if (call.caller === null) throw badParameter('An access token is required to request this resource.')
    for (const module of deps.modules) {
      const node = module.node(id, call)
      if (node) return { status: 200, body: selectFields(node, call.params.get('fields')) }
    }
    throw noSuchObject(id, call.method)
  }

  function withOwnId(path: string, caller: Caller | null): string {
    if (!/^\/me(\/|$)/.test(path)) return path
    if (caller !== null) return path.replace('me', deps.idOf(caller))
    throw new GraphRefusal({
      code: 2_500,
      message: 'An active access token must be used to query information about the current user.',
    })
  }
}

/** The responses of a Graph API host to unknown paths and internal errors. */
export const GRAPH_RESPONSES = {
  notFound: () => new GraphRefusal({ code: 2_500, status: 404, message: 'Unknown path components' }).answer,
  failed: () => new GraphRefusal({ code: 1, status: 500, message: 'An unknown error has occurred.' }).answer,
}

/** Returns the token in a request's header. */
export function tokenIn({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return /^(?:Bearer|OAuth) (\S+)$/i.exec(headers.authorization ?? '')?.[1]
}
