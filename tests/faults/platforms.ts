import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import type { LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { Fault, FaultAction } from '../../sandbox/platforms/faults.ts'
import type { Behaviour, RunningPlatform, SandboxAccount, UserApi } from '../../sandbox/platforms/sandbox-platform.ts'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import type { Send } from './client.ts'

/** Which calls are meant: the method, and a part of the path that no others have. */
type Calls = Required<Pick<Fault, 'method' | 'path'>>

/** What a fault run has to know of a platform beside how it is started. */
interface Traits {
  /**
   * The calls that faults aim at: the visible one, its reconciliation, the renewal of tokens where there is one, and what a
   * callback is exchanged by where there are callbacks.
   */
  calls: { publish: Calls; reconcile: Calls; renew: Calls | null; exchange: Calls | null }
  /** Its permanent and its temporary refusal. */
  refusals: { definite: FaultAction; limited: FaultAction }
  /** Whether every post of it has an image or a video. */
  needsMedia: boolean
}

/** A platform of the sandbox behind its fault proxy, as a fault run needs it. */
export interface FaultPlatform extends Traits {
  platform: Platform
  /** All that its server stands for: they may live by one login. */
  server: Platform[]
  control: Control
}

/** The Graph API's words, which three platforms share. */
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

/** Those whose access tokens end by themselves, and are renewed. */
export const RENEWING = PLATFORMS.filter((platform) => TRAITS[platform].calls.renew !== null)

/** Every platform that the sandbox has; their data go under the folder. */
export async function startFaultPlatforms(dir: string, publicUrl: string, behaviour: Behaviour = {}) {
  const running = await startPlatforms(dir, behaviour)
  const env: Record<string, string> = Object.assign({}, ...running.map((server) => server.env(publicUrl)))
  return {
    platforms: running.flatMap(platformsOf),
    fronts: listFronts(running),
    /** The settings that the service's processes need for them. */
    env,
    secrets: Object.fromEntries(Object.entries(env).filter(([name]) => name.includes('SECRET'))),

    /** New accounts of this name, all of them or those of one platform's server, connected to the user of these requests. */
    async connect(name: string, browser: Browser, only?: Platform): Promise<SandboxAccount[]> {
      const accounts: SandboxAccount[] = []
      for (const { fronts, connect } of running) {
        if (only !== undefined && !(only in fronts)) continue
        const { api, brought } = watched(browser)
        const made = await connect(name, api)
        accounts.push(...made.map((account) => ({ ...account, secrets: { ...account.secrets, ...brought } })))
      }
      return accounts
    },

    stop: async () => void (await Promise.all(running.map((server) => server.stop()))),
  }
}

export type FaultPlatforms = Awaited<ReturnType<typeof startFaultPlatforms>>

/** Whether a request is one of those. */
export function isOne({ method, path }: Calls, request: Pick<LoggedRequest, 'method' | 'path'>): boolean {
  return request.method === method && request.path.includes(path)
}

function platformsOf({ fronts }: RunningPlatform): FaultPlatform[] {
  const server = Object.keys(fronts) as Platform[]
  return server.map((platform) => ({
    platform,
    server,
    control: controlOf(fronts[platform]!.control),
    ...TRAITS[platform],
  }))
}

/** A user's access to the service: requests with a login, and page visits. */
export interface Browser {
  send: Send
  /** Goes where a platform's page leads back to, and returns where it is sent from there. */
  goTo(address: string): Promise<string>
}

/** The callback parameters that connect the account. */
const BROUGHT = { 'an OAuth code': 'code', 'an OAuth verifier': 'oauth_verifier', 'an OAuth state': 'state' }

function watched({ send, goTo }: Browser): { api: UserApi; brought: Record<string, string> } {
  const brought: Record<string, string> = {}
  return {
    brought,
    api: {
      async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
        const answer = await send(method, path, body)
        const { message, data } = answer.body as { message: string; data: T }
        if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${message}`)
        return data
      },
      follow(address) {
        const { searchParams } = new URL(address)
        for (const [name, parameter] of Object.entries(BROUGHT)) {
          const value = searchParams.get(parameter)
          if (value !== null) brought[name] = value
        }
        return goTo(address)
      },
    },
  }
}
