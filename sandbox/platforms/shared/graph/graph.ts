import type { SandboxResponse } from '../../proxied-platform.ts'
import { RefusedCall } from '../refused-call.ts'

/** The case-specific parts of an error response. */
interface GraphProblem {
  code: number
  subcode?: number
  message: string
  type?: 'OAuthException' | 'GraphMethodException' | 'IGApiException' | 'THApiException'
  status?: number
  isTransient?: boolean
  /** Localized text for people. */
  userTitle?: string
  userMessage?: string
  headers?: Record<string, string>
}

/** An error response with the Graph API's wording. */
export class GraphRefusal extends RefusedCall {
  constructor(problem: GraphProblem) {
    const { code, subcode, message, type = 'OAuthException', status = 400, headers } = problem
    const error = {
      message,
      type,
      code,
      ...(subcode !== undefined && { error_subcode: subcode }),
      is_transient: problem.isTransient ?? false,
      ...(problem.userTitle !== undefined && { error_user_title: problem.userTitle }),
      ...(problem.userMessage !== undefined && { error_user_msg: problem.userMessage }),
      fbtrace_id: 'AsandboxTrace',
    }
    super({ status, ...(headers && { headers }), body: { error } })
  }
}

/** Missing, deleted and forbidden objects have the same error. */
export function noSuchObject(id: string, method: string): GraphRefusal {
  return new GraphRefusal({
    code: 100,
    subcode: 33,
    type: 'GraphMethodException',
    message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
  })
}

export function badParameter(message: string): GraphRefusal {
  return new GraphRefusal({ code: 100, message: `(#100) ${message}` })
}

/** A request with a valid token, or without one. `Caller` is the token's owner. */
export interface GraphCall<Caller> {
  method: string
  /** Parameters from query and body; values other than text are JSON. */
  params: GraphParams
  /** Null: no token. Most routes call `callerOf` instead. */
  caller: Caller | null
  /** The captured groups of the route's pattern. */
  ids: string[]
}

export interface GraphParams {
  get(name: string): string | undefined
  /** Parses a list in any form of the Graph API: JSON, commas, `name[0]=`. */
  list(name: string): string[]
}

/** The path after the version: `/<id>/feed`. `me` is already replaced by the caller's own id. */
export type GraphRoute<Caller> = [
  method: string,
  path: RegExp,
  handle: (call: GraphCall<Caller>) => SandboxResponse | Promise<SandboxResponse>,
]

/** The fields of one node; a function is called only when its field is selected. */
export interface GraphNode {
  /** The name in error messages. */
  type: string
  fields: Record<string, unknown>
  /** Fields that are returned when the request names none. */
  byDefault: string[]
}

/** One product's part of the graph: its edges and its nodes. */
export interface GraphModule<Caller> {
  routes: GraphRoute<Caller>[]
  /** Null: no such node here, or none that this caller may see. */
  node(id: string, call: GraphCall<Caller>): GraphNode | null
}

/** @throws GraphRefusal */
export function callerOf<Caller>({ caller }: Pick<GraphCall<Caller>, 'caller'>): Caller {
  if (caller !== null) return caller
  throw new GraphRefusal({ code: 104, message: 'An access token is required to request this resource.' })
}
