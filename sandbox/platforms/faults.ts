import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const FaultActionSchema = Type.Object(
  {
    /** Waits before anything else happens. */
    delayMs: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Answers in the server's place; the request does not reach it. */
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Text as it is, anything else as JSON. */
    body: Type.Optional(Type.Unknown()),
    /** The server gets the request and does it; the connection then closes without an answer. */
    dropAfterAccept: Type.Optional(Type.Boolean()),
    /** The server gets the request and does it; the client waits for an answer that never comes. */
    holdAfterAccept: Type.Optional(Type.Boolean()),
    /** The server gets the request and does it; the client is answered with this status, and `headers` and `body`. */
    statusAfterAccept: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    /** The answer's body breaks off after so many bytes, or in its middle with `true`. */
    truncate: Type.Optional(Type.Union([Type.Boolean(), Type.Integer({ minimum: 0 })])),
    trickleBytesPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    /** No answer ever; the request does not reach the server. */
    hang: Type.Optional(Type.Boolean()),
    /** The connection closes without an answer; the request does not reach the server. */
    cut: Type.Optional(Type.Boolean()),
    /** An answer without end in the server's place: 1 GiB of body, as much again compressed to little, or headers. */
    flood: Type.Optional(Type.Union([Type.Literal('body'), Type.Literal('gzip'), Type.Literal('headers')])),
  },
  { additionalProperties: false, minProperties: 1 },
)

export const FaultSchema = Type.Object(
  {
    method: Type.Optional(Type.String()),
    /** Any part of the request's path. */
    path: Type.Optional(Type.String()),
    /** The platform's id of the account whose token the request carries. */
    account: Type.Optional(Type.String()),
    /** How many requests it meets; without it all, until cleared. */
    times: Type.Optional(Type.Integer({ minimum: 1 })),
    action: FaultActionSchema,
  },
  { additionalProperties: false },
)

export type FaultAction = Static<typeof FaultActionSchema>
export type Fault = Static<typeof FaultSchema>

/** What faults choose by. */
export interface FaultedRequest {
  method: string
  path: string
  account: string | null
}

/** The faults in force. A request meets the oldest one that fits it, and only that one. */
export function createFaults() {
  let faults: Fault[] = []

  return {
    /** @returns what is wrong with it, or null when it is in force now */
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
    /** The action that meets this request, which is thereby used once. */
    take(request: FaultedRequest): FaultAction | undefined {
      const fault = faults.find((candidate) => fits(candidate, request))
      if (fault?.times !== undefined && --fault.times === 0) faults = faults.filter((other) => other !== fault)
      return fault?.action
    },
  }
}

export type Faults = ReturnType<typeof createFaults>

function fits(fault: Fault, { method, path, account }: FaultedRequest): boolean {
  if (fault.method !== undefined && fault.method.toUpperCase() !== method.toUpperCase()) return false
  if (fault.account !== undefined && fault.account !== account) return false
  return fault.path === undefined || path.includes(fault.path)
}
