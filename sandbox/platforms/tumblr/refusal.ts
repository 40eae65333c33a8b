import type { OutgoingHttpHeaders } from 'node:http'
import type { SandboxResponse } from '../proxied-platform.ts'
import { RefusedCall } from '../shared/refused-call.ts'

const MESSAGES: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Limit Exceeded',
}

/** The envelope of every response below /v2. */
export function envelope(status: number, response: unknown, errors?: object[]): SandboxResponse {
  const meta = { status, msg: MESSAGES[status] ?? 'Internal Server Error' }
  return { status, body: { meta, response, ...(errors && { errors }) } }
}

/** An error response with the real server's wording; `code` identifies the reason. */
export class Refusal extends RefusedCall {
  constructor(status: number, title: string, code = 0, headers: OutgoingHttpHeaders = {}) {
    super({ ...envelope(status, [], [{ title, code, detail: title }]), headers })
  }
}

/** The OAuth calls refuse in plain text. */
export class OAuthRefusal extends RefusedCall {
  constructor(status: number, body: string) {
    super({ status, headers: { 'content-type': 'text/plain' }, body })
  }
}
