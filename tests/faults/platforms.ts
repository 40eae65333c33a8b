import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import type { LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { Behaviour, RunningPlatform, SandboxAccount, UserApi } from '../../sandbox/platforms/sandbox-platform.ts'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import { PLATFORM_TRAITS, type Calls, type PlatformTraits } from '../support/platform-traits.ts'
import type { Send } from './client.ts'

/** A platform of the sandbox behind its fault proxy. */
export interface FaultPlatform extends PlatformTraits {
  platform: Platform
  /** All platforms of its server. They may share one login. */
  server: Platform[]
  control: Control
}

/** The platforms whose access tokens expire and are renewed. */
export const RENEWING_PLATFORMS = PLATFORMS.filter((platform) => PLATFORM_TRAITS[platform].calls.renew !== null)

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
    ...PLATFORM_TRAITS[platform],
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
