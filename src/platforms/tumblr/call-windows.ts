import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpResponse } from '../shared/http.ts'

/**
 * Reads the hourly and the daily limit, which Tumblr grants to the application and not to each user
 * (docs/reference/platforms.md).
 */
export function parseCallWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[] {
  return ['perhour', 'perday'].map((span) => {
    const readHeader = (name: string) => Number(answer.header(`x-ratelimit-${span}-${name}`) ?? NaN)
    return {
      span,
      limit: readHeader('limit'),
      remaining: readHeader('remaining'),
      endsAt: Date.now() + readHeader('reset') * SECOND,
    }
  })
}
