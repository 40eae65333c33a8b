import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpAnswer } from '../shared/http.ts'

/** The calls of an hour and of a day are granted to the application, and not to its users (platforms.md 7d). */
export function callWindows(answer: Pick<HttpAnswer, 'header'>): CallWindow[] {
  return ['perhour', 'perday'].map((span) => {
    const told = (name: string) => Number(answer.header(`x-ratelimit-${span}-${name}`) ?? NaN)
    return { span, limit: told('limit'), remaining: told('remaining'), endsAt: Date.now() + told('reset') * SECOND }
  })
}
