import { SECOND } from '../../domain/shared/times.ts'
import type { CallWindow } from '../shared/call-budget.ts'
import type { HttpResponse, HttpRequest } from '../shared/http.ts'

/** Reads the limit that a server grants to an IP address; here all its accounts share it. */
export function parseCallWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[] {
  const readHeader = (name: string) => Number(answer.header(`ratelimit-${name}`) ?? NaN)
  return [
    { span: '', limit: readHeader('limit'), remaining: readHeader('remaining'), endsAt: readHeader('reset') * SECOND },
  ]
}

export const toServerOrigin = ({ url }: Pick<HttpRequest, 'url'>): string => url.origin
