import type { SandboxResponse } from '../proxied-platform.ts'
import { RefusedCall } from '../shared/refused-call.ts'

/** An error response with the real server's wording. */
export class Refusal extends RefusedCall {
  constructor(
    status: number,
    error: string,
    extra: Record<string, string> = {},
    headers: SandboxResponse['headers'] = {},
  ) {
    super({ status, headers, body: { error, ...extra } })
  }
}
