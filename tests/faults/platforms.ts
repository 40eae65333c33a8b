import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import type { LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { Fault, FaultAction } from '../../sandbox/platforms/faults.ts'
import type { Behaviour, RunningPlatform, SandboxAccount, UserApi } from '../../sandbox/platforms/sandbox-platform.ts'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import type { Send } from './client.ts'

/** Selects calls of a platform by their method and a part of the path that only these calls have. */
type Calls = Required<Pick<Fault, 'method' | 'path'>>

/** The facts about a platform that a fault run needs. */
interface Traits {
  /**
   * The calls that faults target: the visible call, its reconciliation, the renewal of tokens, and the exchange of a callback.
   * Null where the platform has no such call.
   */
  calls: { publish: Calls; reconcile: Calls; renew: Calls | null; exchange: Calls | null }
  /** A permanent refusal and a rate limit, as the platform reports them. */
  refusals: { definite: FaultAction; limited: FaultAction }
  /** True when the platform accepts only posts with an image or a video. */
  needsMedia: boolean
}

/** A platform of the sandbox behind its fault proxy. */
export interface FaultPlatform extends Traits {
  platform: Platform
  /** All platforms of its server. They may share one login. */
  server: Platform[]
  control: Control
}

/** The refusals of the Graph API, which three platforms share. */
const GRAPH_REFUSALS: Traits['refusals'] = {
  definite: { status: 400, body: graphError(100, 'Invalid parameter') },
  limited: { status: 400, headers: { 'retry-after': '2' }, body: graphError(613, 'Calls to this api have exceeded') },
}

function graphError(code: number, message: string): object {
  return { error: { message: `(#${code}) ${message}`, type: 'OAuthException', code, fbtrace_id: 'A' } }
}

const TRAITS: Record<Platform, Traits> = {
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
    needsMedia: false,
  },
  mastodon: {
    calls: {
      publish: { method: 'POST', path: '/api/v1/statuses' },
      reconcile: { method: 'GET', path: '/statuses?' },
      renew: null,
      exchange: { method: 'POST', path: '/oauth/token' },
    },
    refusals: {
      definite: { status: 422, body: { error: 'Validation failed: no' } },
      limited: { status: 429, headers: { 'retry-after': '2' }, body: { error: 'Too many requests' } },
    },
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
    needsMedia: true,
  },
  facebook: {
    calls: {
      publish: { method: 'POST', path: '/feed' },
      reconcile: { method: 'GET', path: '/published_posts' },
      renew: null,
      exchange: { method: 'GET', path: 'code=' },
    },
    refusals: GRAPH_REFUSALS,
    needsMedia: false,
  },
  tumblr: {
    calls: {
      publish: { method: 'PUT', path: '/posts/' },
      reconcile: { method: 'GET', path: '/posts' },
      renew: null,
      exchange: { method: 'POST', path: '/oauth/access_token' },
    },
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
    needsMedia: false,
  },
}

/** The platforms whose access tokens expire and are renewed. */
export const RENEWING_PLATFORMS = PLATFORMS.filter((platform) => TRAITS[platform].calls.renew !== null)

/** Starts every platform of the sandbox, with its data under the folder. */
export async function startFaultPlatforms(dir: string, publicUrl: string, behaviour: Behaviour = {}) {
  const running = await startPlatforms(dir, behaviour)
  const env: Record<string, string> = Object.assign({}, ...running.map((server) => server.env(publicUrl)))
  return {
    platforms: running.flatMap(toFaultPlatforms),
    fronts: listFronts(running),
    /** The environment variables with which the service uses these platforms. */
    env,
    secrets: Object.fromEntries(Object.entries(env).filter(([name]) => name.includes('SECRET'))),

    /** Creates accounts of this name on every server, or only on that of one platform, and connects them to the browser's user. */
    async connect(name: string, browser: Browser, only?: Platform): Promise<SandboxAccount[]> {
      const accounts: SandboxAccount[] = []
      for (const { fronts, connect } of running) {
        if (only !== undefined && !(only in fronts)) continue
        const { api, callbackSecrets } = collectCallbackSecrets(browser)
        const connected = await connect(name, api)
        accounts.push(
          ...connected.map((account) => ({ ...account, secrets: { ...account.secrets, ...callbackSecrets } })),
        )
      }
      return accounts
    },

    stop: async () => void (await Promise.all(running.map((server) => server.stop()))),
  }
}

export type FaultPlatforms = Awaited<ReturnType<typeof startFaultPlatforms>>

/** Returns whether the request is one of these calls. */
export function matchesCall({ method, path }: Calls, request: Pick<LoggedRequest, 'method' | 'path'>): boolean {
  return request.method === method && request.path.includes(path)
}

function toFaultPlatforms({ fronts }: RunningPlatform): FaultPlatform[] {
  const server = Object.keys(fronts) as Platform[]
  return server.map((platform) => ({
    platform,
    server,
    control: controlOf(fronts[platform]!.control),
    ...TRAITS[platform],
  }))
}

/** A user's access to the service: authenticated requests and page visits. */
export interface Browser {
  send: Send
  /** Opens the callback URL of a platform's page and returns the URL of the redirect. */
  goTo(address: string): Promise<string>
}

/** Returns the same access, which adds accounts beside the connected ones. Without it, a connected account replaces the default one. */
export function withoutReplacing({ send, goTo }: Browser): Browser {
  return {
    goTo,
    send: (method, path, body) => send(method, path.endsWith('/connect') ? `${path}?replace=false` : path, body),
  }
}

/** The secret parameters of a callback URL, by their names in violations. */
const CALLBACK_SECRETS = { 'an OAuth code': 'code', 'an OAuth verifier': 'oauth_verifier', 'an OAuth state': 'state' }

/** Wraps a browser and collects the secrets of the callback URLs that it opens. */
function collectCallbackSecrets({ send, goTo }: Browser): { api: UserApi; callbackSecrets: Record<string, string> } {
  const callbackSecrets: Record<string, string> = {}
  return {
    callbackSecrets,
    api: {
      async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
        const answer = await send(method, path, body)
        const { message, data } = answer.body as { message: string; data: T }
        if (answer.status >= 300) throw new Error(`${method} ${path} returned ${answer.status}: ${message}`)
        return data
      },
      follow(address) {
        const { searchParams } = new URL(address)
        for (const [name, parameter] of Object.entries(CALLBACK_SECRETS)) {
          const value = searchParams.get(parameter)
          if (value !== null) callbackSecrets[name] = value
        }
        return goTo(address)
      },
    },
  }
}
