import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpResponse } from '../shared/http.ts'

/** The calls of an hour and of a day are granted to the application, and not to its users (platforms.md 7d). */
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
