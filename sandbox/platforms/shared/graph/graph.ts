import type { SandboxResponse } from '../../proxied-platform.ts'
import { RefusedCall } from '../refused-call.ts'

/** What of an error answer differs from case to case (platforms.md 3g). */
interface GraphProblem {
  code: number
  subcode?: number
  message: string
  type?: 'OAuthException' | 'GraphMethodException' | 'IGApiException' | 'THApiException'
  status?: number
  isTransient?: boolean
  /** For people. */
  userTitle?: string
  userMessage?: string
  headers?: Record<string, string>
}

/** An error answer, in the words of the Graph API. */
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

/** Missing, deleted and not allowed to see look alike. */
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

/** A request whose token was found good, or that came without one. `Caller` is whose token that is. */
export interface GraphCall<Caller> {
  method: string
  /** Of query and body; what is not text arrives as JSON. */
  params: GraphParams
  /** Null: no token. Most routes ask `callerOf` instead. */
  caller: Caller | null
  /** What the parentheses of the route's pattern caught. */
  ids: string[]
}

export interface GraphParams {
  get(name: string): string | undefined
  /** A list in any of the forms that the Graph API takes: JSON, commas, `name[0]=`. */
  list(name: string): string[]
}

/** The path is what follows the version: `/<id>/feed`. `me` stands for the caller's own id already. */
export type GraphRoute<Caller> = [
  method: string,
  path: RegExp,
  handle: (call: GraphCall<Caller>) => SandboxResponse | Promise<SandboxResponse>,
]

/** The fields of one node; a function is asked only when its field is. */
export interface GraphNode {
  /** As error messages call it. */
  type: string
  fields: Record<string, unknown>
  /** Sent when no fields are asked for. */
  byDefault: string[]
}

/** One product's part of the graph: its edges, and what can be read under an id of its own. */
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
