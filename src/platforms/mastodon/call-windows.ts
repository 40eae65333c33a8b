import { createHash } from 'node:crypto'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpResponse, HttpRequest } from '../shared/http.ts'

/** Every answer tells of the narrowest limit that its call counted against (platforms.md 6d), mostly that of the token. */
export function parseCallWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[] {
  const readHeader = (name: string) => Number(answer.header(`x-ratelimit-${name}`) ?? NaN)
  return [
    { span: '', limit: readHeader('limit'), remaining: readHeader('remaining'), endsAt: parseReset(answer) ?? NaN },
  ]
}

/** `X-RateLimit-Reset` is ISO 8601; some servers of the same API send unix seconds. Undefined where it says nothing. */
export function parseReset(answer: Pick<HttpResponse, 'header'>): number | undefined {
  const reset = answer.header('x-ratelimit-reset')?.trim() ?? ''
  const at = /^\d+$/.test(reset) ? Number(reset) * SECOND : Date.parse(reset)
  return Number.isNaN(at) ? undefined : at
}

/** The token, which nobody can read out of it. */
export function hashToken({ headers }: Pick<HttpRequest, 'headers'>): string {
  return createHash('sha256')
    .update(headers?.['authorization'] ?? '')
    .digest('base64url')
}
