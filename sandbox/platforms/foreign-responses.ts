import type { FaultAction } from './faults.ts'

interface ForeignResponse {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

const page = (status: number, title: string): ForeignResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html><title>${title}</title><h1>${title}</h1>`,
})

/** Responses of proxies, gateways, firewalls and captive portals, by name. */
export const FOREIGN_RESPONSES = {
  'a page with 404': page(404, 'Not Found'),
  'a page with 401': page(401, 'Authorization Required'),
  'a page with 403': page(403, 'Access denied'),
  'a page with 502': page(502, 'Bad Gateway'),
  'a page with 200': page(200, 'Welcome to our network'),
  'an empty 404': { status: 404 },
  'an empty 400': { status: 400 },
  'an empty 200': { status: 200 },
  'another JSON with 404': { status: 404, body: { message: 'no Route matched with those values', code: 'NOT_FOUND' } },
  'another JSON with 403': { status: 403, body: { error: { status: 'PERMISSION_DENIED', reason: 'blocked' } } },
  'another JSON with 200': { status: 200, body: { status: 'ok', data: {} } },
} satisfies Record<string, ForeignResponse>

export type ForeignResponseName = keyof typeof FOREIGN_RESPONSES

/** Replaces the platform: it never receives the request. */
export function insteadOf(name: ForeignResponseName): FaultAction {
  return FOREIGN_RESPONSES[name]
}

/** Replaces the response: the platform processes the request. */
export function afterAccept(name: ForeignResponseName): FaultAction {
  const { status, ...answer }: ForeignResponse = FOREIGN_RESPONSES[name]
  return { statusAfterAccept: status, ...answer }
}
