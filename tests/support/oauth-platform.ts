import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { PlatformErrorClass } from '../../src/domain/posts/failure.ts'
import type { CallOptions, PlatformAdapter, RedirectConnect } from '../../src/platforms/contract.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import type { PlatformRegistry } from '../../src/platforms/registry.ts'

const CLASS_BY_STATUS: Record<number, PlatformErrorClass> = {
  400: 'validation',
  401: 'unauthorized',
  403: 'permission',
}

interface Grant {
  accountId: string
  challenge: string
  redirectUri: string
}

/** The platform's response to token calls: correct, none, or this HTTP status. */
type Behaviour = 'correct' | 'hang' | number

/**
 * Starts a minimal OAuth platform that replaces Mastodon. A code is valid once, with its verifier and redirect URI. The platform
 * records its calls.
 */
export async function startOAuthPlatform() {
  const grants = new Map<string, Grant>()
  const requests: string[] = []
  const revoked: string[] = []
  let behaviour: Behaviour = 'correct'
  /** True when an account always gets the same token, as on Mastodon, instead of one per login. */
  let reusesTokens = false
  let lookupParameter: string | undefined

  async function answer(request: IncomingMessage): Promise<[status: number, body: object]> {
    const form = new URLSearchParams(await text(request))
    if (request.url === '/revoke') {
      revoked.push(form.get('token')!)
      return [200, {}]
    }
    if (typeof behaviour === 'number') return [behaviour, { error: 'scripted_error' }]
    const grant = grants.get(form.get('code')!)
    grants.delete(form.get('code')!)
    const isValid = grant?.redirectUri === form.get('redirect_uri') && grant.challenge === sha256(form.get('verifier')!)
    if (!isValid) return [400, { error: 'invalid_grant' }]
    const { accountId } = grant
    return [200, { accountId, accessToken: reusesTokens ? `token-of-${accountId}` : `token-${random()}` }]
  }

  const server = createServer((request, response) => {
    requests.push(request.url!)
    if (behaviour === 'hang' && request.url === '/token') return
    void answer(request).then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function call(path: string, form: Record<string, string>, { signal }: CallOptions) {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(form), signal })
    if (!response.ok) {
      const errorClass = CLASS_BY_STATUS[response.status] ?? 'transient'
      throw new PlatformError(errorClass, `The platform answered ${response.status}`, { certain: true })
    }
    return (await response.json()) as { accountId: string; accessToken: string }
  }

  const redirect: RedirectConnect = {
    get lookupParameter() {
      return lookupParameter!
    },
    async begin({ state, redirectUri }) {
      const verifier = `verifier-${random()}`
      const lookup = `request-token-${random()}`
      const page = new URL(`${url}/authorize`)
      page.search = new URLSearchParams({
        state,
        redirect_uri: redirectUri,
        challenge: sha256(verifier),
        lookup,
      }).toString()
      return { url: page.href, secrets: { verifier }, ...(lookupParameter !== undefined && { lookup }) }
    },
    async complete({ query, redirectUri, secrets }, options) {
      if (!query['code']) throw new PlatformError('permission', 'The platform sent no code', { certain: true })
      const { accountId, accessToken } = await call(
        '/token',
        { code: query['code'], redirect_uri: redirectUri, verifier: secrets['verifier']! },
        options,
      )
      const handle = `${accountId}@example.test`
      return {
        credentials: { accountId, handle, serviceUrl: url, accessToken },
        profile: { displayName: accountId, handle, avatar: null },
      }
    },
  }

  const unused = () => Promise.reject(new Error('Not part of this test'))
  const adapter: PlatformAdapter = {
    platform: 'mastodon',
    prepare: unused,
    publish: unused,
    reconcile: unused,
    async profile({ accountId, handle }) {
      requests.push('/profile')
      return { displayName: `${accountId} again`, handle, avatar: null }
    },
    revoke: async ({ accessToken }, options) => void (await call('/revoke', { token: accessToken }, options)),
  }

  const registry: PlatformRegistry = {
    find: (platform) => (platform === 'mastodon' ? adapter : null),
    direct: () => null,
    redirect: (platform) => (platform === 'mastodon' ? redirect : null),
    warmUp: async () => {},
    close: async () => {},
  }

  return {
    url,
    registry,
    /** The paths of all calls, in order. */
    requests,
    /** The revoked tokens, in order. */
    revoked,
    profilesRead: () => requests.filter((path) => path === '/profile').length,
    tokenCalls: () => requests.filter((path) => path === '/token').length,

    /** Consents on the platform's page and returns the query of the callback. */
    consent(page: string, accountId = `account-${random()}`): { code: string; state: string; accountId: string } {
      const { searchParams } = new URL(page)
      const code = `code-${random()}`
      const redirectUri = searchParams.get('redirect_uri')!
      grants.set(code, { accountId, redirectUri, challenge: searchParams.get('challenge')! })
      return { code, state: searchParams.get('state')!, accountId }
    },

    behave: (next: Behaviour) => void (behaviour = next),
    reuseTokens: (reuse: boolean) => void (reusesTokens = reuse),
    /** Makes the platform identify attempts by this parameter, as OAuth 1.0a does. */
    nameAttemptsBy: (parameter: string | undefined) => void (lookupParameter = parameter),

    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

function random(): string {
  return randomBytes(8).toString('hex')
}
