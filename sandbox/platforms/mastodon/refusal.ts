import type { SandboxResponse } from '../proxied-platform.ts'
import { RefusedCall } from '../shared/refused-call.ts'

/** An error answer, in the words of the real server. */
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
