import type { Fault, FaultAction } from '../../sandbox/platforms/faults.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'

/** Selects calls of a platform by their method and a part of the path that only these calls have. */
export type Calls = Required<Pick<Fault, 'method' | 'path'>>

/** The facts about a platform that tests of every platform need. */
export interface PlatformTraits {
  /**
   * The calls that faults target: the visible call, its reconciliation, the renewal of tokens, and the exchange of a callback.
   * Null where the platform has no such call.
   */
  calls: { publish: Calls; reconcile: Calls; renew: Calls | null; exchange: Calls | null }
  /** The method of the call that edits a published post; its path ends with the id. Absent where no program can edit posts. */
  edit?: string
  /** A permanent refusal and a rate limit, as the platform reports them. */
  refusals: { definite: FaultAction; limited: FaultAction }
  /** The body of the platform's own 404. */
  notFound: object
  /** True when the platform accepts only posts with an image or a video. */
  needsMedia: boolean
}

/** The refusals of the Graph API, which three platforms share. */
const GRAPH_REFUSALS: PlatformTraits['refusals'] = {
  definite: { status: 400, body: graphError(100, 'Invalid parameter') },
  limited: { status: 400, headers: { 'retry-after': '2' }, body: graphError(613, 'Calls to this api have exceeded') },
}

function graphError(code: number, message: string): object {
  return { error: { message: `(#${code}) ${message}`, type: 'OAuthException', code, fbtrace_id: 'A' } }
}

const GRAPH_NOT_FOUND = {
  error: { message: 'Unsupported post request', type: 'GraphMethodException', code: 100, error_subcode: 33 },
}

export const PLATFORM_TRAITS: Record<Platform, PlatformTraits> = {
  bluesky: {
    calls: {
      publish: { method: 'POST', path: 'repo.putRecord' },
      reconcile: { method: 'GET', path: 'repo.getRecord' },
      renew: { method: 'POST', path: 'server.refreshSession' },
      exchange: null,
    },
    refusals: {
      definite: { status: 400, body: { error: 'InvalidRequest', message: 'no' } },
      limited: { status: 429, headers: { 'retry-after': '2' }, body: { error: 'RateLimitExceeded' } },
    },
    notFound: { error: 'NotFound', message: 'Not Found' },
    needsMedia: false,
  },
  mastodon: {
    calls: {
      publish: { method: 'POST', path: '/api/v1/statuses' },
      reconcile: { method: 'GET', path: '/statuses?' },
      renew: null,
      exchange: { method: 'POST', path: '/oauth/token' },
    },
    edit: 'PUT',
    refusals: {
      definite: { status: 422, body: { error: 'Validation failed: no' } },
      limited: { status: 429, headers: { 'retry-after': '2' }, body: { error: 'Too many requests' } },
    },
    notFound: { error: 'Record not found' },
    needsMedia: false,
  },
  threads: {
    calls: {
      publish: { method: 'POST', path: '/threads_publish' },
      reconcile: { method: 'GET', path: 'fields=status' },
      renew: null,
      exchange: { method: 'POST', path: '/oauth/access_token' },
    },
    refusals: GRAPH_REFUSALS,
    notFound: GRAPH_NOT_FOUND,
    needsMedia: false,
  },
  instagram: {
    calls: {
      publish: { method: 'POST', path: '/media_publish' },
      reconcile: { method: 'GET', path: 'fields=status' },
      renew: null,
      exchange: null,
    },
    refusals: GRAPH_REFUSALS,
    notFound: GRAPH_NOT_FOUND,
    needsMedia: true,
  },
  facebook: {
    calls: {
      publish: { method: 'POST', path: 'published=true' },
      reconcile: { method: 'GET', path: 'fields=is_published' },
      renew: null,
      exchange: { method: 'GET', path: 'code=' },
    },
    edit: 'POST',
    refusals: GRAPH_REFUSALS,
    notFound: GRAPH_NOT_FOUND,
    needsMedia: false,
  },
  tumblr: {
    calls: {
      publish: { method: 'PUT', path: '/posts/' },
      reconcile: { method: 'GET', path: '/posts' },
      renew: null,
      exchange: { method: 'POST', path: '/oauth/access_token' },
    },
    edit: 'PUT',
    refusals: {
      definite: {
        status: 400,
        body: { meta: { status: 400, msg: 'Bad Request' }, errors: [{ title: 'no', code: 0 }] },
      },
      limited: {
        status: 429,
        headers: { 'retry-after': '2' },
        body: { meta: { status: 429, msg: 'Limit Exceeded' }, errors: [] },
      },
    },
    notFound: { meta: { status: 404, msg: 'Not Found' }, errors: [] },
    needsMedia: false,
  },
}
