import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpAnswer, HttpRequest } from '../shared/http.ts'

/** Reading counts against what a server grants an address (platforms.md 2d), which all its accounts share here. */
export function callWindows(answer: Pick<HttpAnswer, 'header'>): CallWindow[] {
  const told = (name: string) => Number(answer.header(`ratelimit-${name}`) ?? NaN)
  return [{ span: '', limit: told('limit'), remaining: told('remaining'), endsAt: told('reset') * SECOND }]
}

export const serverOf = ({ url }: Pick<HttpRequest, 'url'>): string => url.origin
