import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const FaultActionSchema = Type.Object(
  {
    /** Delays the request, before any other effect of the fault. */
    delayMs: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Responds in place of the server; the request does not reach it. */
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** A string is sent unchanged, anything else as JSON. */
    body: Type.Optional(Type.Unknown()),
    /** The server processes the request; then the connection closes without a response. */
    dropAfterAccept: Type.Optional(Type.Boolean()),
    /** The server processes the request; the client never receives a response. */
    holdAfterAccept: Type.Optional(Type.Boolean()),
    /** The server processes the request; the client receives this status, with `headers` and `body`. */
    statusAfterAccept: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    /** The response body ends after this many bytes, or in the middle with `true`. */
    truncate: Type.Optional(Type.Union([Type.Boolean(), Type.Integer({ minimum: 0 })])),
    trickleBytesPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    /** Never responds; the request does not reach the server. */
    hang: Type.Optional(Type.Boolean()),
    /** Closes the connection without a response; the request does not reach the server. */
    cut: Type.Optional(Type.Boolean()),
    /** Responds endlessly in place of the server: 1 GiB of body, the same compressed, or headers. */
    flood: Type.Optional(Type.Union([Type.Literal('body'), Type.Literal('gzip'), Type.Literal('headers')])),
  },
  { additionalProperties: false, minProperties: 1 },
)

export const FaultSchema = Type.Object(
  {
    method: Type.Optional(Type.String()),
    /** Matches any part of the request's path. */
    path: Type.Optional(Type.String()),
    /** The platform's id of the account whose token the request carries. */
    account: Type.Optional(Type.String()),
    /** How many matching requests pass before it affects any. */
    skip: Type.Optional(Type.Integer({ minimum: 0 })),
    /** How many requests it affects; by default all, until it is cleared. */
    times: Type.Optional(Type.Integer({ minimum: 1 })),
    action: FaultActionSchema,
  },
  { additionalProperties: false },
)

export type FaultAction = Static<typeof FaultActionSchema>
export type Fault = Static<typeof FaultSchema>

/** The fields that faults match. */
export interface FaultedRequest {
  method: string
  path: string
  account: string | null
}

/** The active faults. Only the oldest matching fault applies to a request. */
export function createFaults() {
  let faults: Fault[] = []

  return {
    /** @returns the validation error, or null when the fault is active */
    add(fault: unknown): string | null {
      const error = Value.Errors(FaultSchema, fault).First()
      if (error) return `${error.path || '/'}: ${error.message}`
      faults.push(structuredClone(fault as Fault))
      return null
    },
    list: (): Fault[] => faults,
    clear(): void {
      faults = []
    },
    /** Returns the action for a request and counts its use. */
    take(request: FaultedRequest): FaultAction | undefined {
      const fault = faults.find((candidate) => isMatch(candidate, request))
      if (fault?.skip) {
        fault.skip -= 1
        return undefined
      }
      if (fault?.times !== undefined && --fault.times === 0) faults = faults.filter((other) => other !== fault)
      return fault?.action
    },
  }
}

export type Faults = ReturnType<typeof createFaults>

function isMatch(fault: Fault, { method, path, account }: FaultedRequest): boolean {
  if (fault.method !== undefined && fault.method.toUpperCase() !== method.toUpperCase()) return false
  if (fault.account !== undefined && fault.account !== account) return false
  return fault.path === undefined || path.includes(fault.path)
}
