import { createHash } from 'node:crypto'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpResponse, HttpRequest } from '../shared/http.ts'

/** Reads the narrowest limit that the call counted against, mostly that of the token (docs/reference/platforms.md). */
export function parseCallWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[] {
  const readHeader = (name: string) => Number(answer.header(`x-ratelimit-${name}`) ?? NaN)
  return [
    { span: '', limit: readHeader('limit'), remaining: readHeader('remaining'), endsAt: parseReset(answer) ?? NaN },
  ]
}

/** `X-RateLimit-Reset` is ISO 8601; some compatible servers send unix seconds. Undefined when it cannot be parsed. */
export function parseReset(answer: Pick<HttpResponse, 'header'>): number | undefined {
  const reset = answer.header('x-ratelimit-reset')?.trim() ?? ''
  const at = /^\d+$/.test(reset) ? Number(reset) * SECOND : Date.parse(reset)
  return Number.isNaN(at) ? undefined : at
}

/** Hashes server and token, so that the key does not reveal the token. */
export function hashServerAndToken({ url, headers }: Pick<HttpRequest, 'url' | 'headers'>): string {
  return createHash('sha256')
    .update(`${url.origin} ${headers?.['authorization'] ?? ''}`)
    .digest('base64url')
}
