import { createHash, randomBytes } from 'node:crypto'
import type { SandboxResponse } from '../proxied-platform.ts'
import { chosenAccount } from '../shared/consent.ts'
import { errorPage, redirect } from '../shared/html.ts'
import type { Params } from '../shared/params.ts'
import { Refusal } from './refusal.ts'
import type { Accounts } from './accounts.ts'
import { authorizePage } from './pages.ts'
import type { Account, App, State, Token } from './state.ts'

const CODE_LIFE_MS = 10 * 60_000
const KNOWN_SCOPES =
  /^(read|write|follow|push|profile)$|^(read|write):(accounts|blocks|bookmarks|favourites|filters|follows|lists|media|mutes|notifications|reports|search|statuses)$/
const BAD_CLIENT =
  'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.'
const BAD_GRANT =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.'

/** Applications, logins by code and their end, as in Mastodon's Doorkeeper. */
export function createOAuth(state: State, accounts: Accounts) {
  function registerApp(params: Params): SandboxResponse {
    const redirectUris = params.list('redirect_uris').flatMap((uris) => uris.split(/\s+/).filter(Boolean))
    const scopes = (params.text('scopes') ?? 'read').split(/\s+/)
    const name = params.text('client_name')
    if (!name) throw new Refusal(422, "Validation failed: Application name can't be blank")
    if (redirectUris.length === 0 || !redirectUris.every((uri) => URL.canParse(uri))) {
      throw new Refusal(422, 'Validation failed: Redirect URI must be an absolute URI.')
    }
    if (!scopes.every((scope) => KNOWN_SCOPES.test(scope))) {
      throw new Refusal(422, "Validation failed: Scopes doesn't match configured on the server.")
    }
    const app = makeApp({ name, website: params.text('website') ?? null, redirectUris, scopes })
    return { status: 200, body: { ...presentApp(app), client_id: app.clientId, client_secret: app.clientSecret } }
  }

  function makeApp(fields: Pick<App, 'name' | 'website' | 'redirectUris' | 'scopes'>): App {
    const app = { ...fields, id: state.newId(), clientId: randomText(), clientSecret: randomText() }
    return state.apps.set(app.clientId, app)
  }

  /** Validates a login request. The error is a page if the redirect cannot be trusted, else a redirect. */
  function problemOf(params: Params): SandboxResponse | null {
    const app = state.apps.get(params.text('client_id') ?? '')
    if (!app) return errorPage(401, BAD_CLIENT)
    const redirectUri = params.text('redirect_uri') ?? ''
    if (!app.redirectUris.includes(redirectUri)) {
      return errorPage(400, "The requested redirect uri is malformed or doesn't match client redirect URI.")
    }
    const refuse = (error: string, description: string) =>
      redirect(redirectUri, { error, error_description: description, state: params.text('state') })
    if (params.text('response_type') !== 'code') {
      return refuse('unsupported_response_type', 'The authorization server does not support this response type.')
    }
    if (!scopesOf(params).every((scope) => covers(app.scopes, scope))) {
      return refuse('invalid_scope', 'The requested scope is invalid, unknown, or malformed.')
    }
    if (params.text('code_challenge') !== undefined && params.text('code_challenge_method') !== 'S256') {
      return refuse('invalid_code_challenge_method', 'The code_challenge_method must be S256.')
    }
    return null
  }

  function authorize(params: Params): SandboxResponse {
    const problem = problemOf(params)
    if (problem) return problem
    const app = state.apps.get(params.text('client_id')!)!
    return authorizePage(app.name, scopesOf(params), state.accounts.values())
  }

  /** Handles the two buttons of the page. */
  function decide(params: Params): SandboxResponse {
    const problem = problemOf(params)
    if (problem) return problem
    const redirectUri = params.text('redirect_uri')!
    const answerState = params.text('state')
    if (params.text('decision') !== 'allow') {
      return redirect(redirectUri, {
        error: 'access_denied',
        error_description: 'The resource owner or authorization server denied the request.',
        state: answerState,
      })
    }
    const account = chosenAccount({ account: params.text('account'), name: params.text('name') }, accounts)
    const code = randomText()
    state.grants.set(code, {
      code,
      clientId: params.text('client_id')!,
      accountId: account.id,
      redirectUri,
      scopes: scopesOf(params),
      challenge: params.text('code_challenge') ?? null,
      createdAt: Date.now(),
    })
    return redirect(redirectUri, { code, state: answerState })
  }

  function clientOf(params: Params): App {
    const app = state.apps.get(params.text('client_id') ?? '')
    if (app && app.clientSecret === params.text('client_secret')) return app
    throw new Refusal(401, 'invalid_client', { error_description: BAD_CLIENT })
  }

  function issueToken(params: Params): SandboxResponse {
    const app = clientOf(params)
    const kind = params.text('grant_type')
    if (kind === 'client_credentials') return presentToken(tokenFor(app, null, scopesOf(params)))
    if (kind !== 'authorization_code') {
      throw new Refusal(400, 'unsupported_grant_type', {
        error_description: 'The authorization grant type is not supported by the authorization server.',
      })
    }
    const grant = state.grants.get(params.text('code') ?? '')
    // Each code is used up, even when the rest of the request is invalid.
    if (grant) state.grants.delete(grant.code)
    const isGood =
      grant !== undefined &&
      grant.clientId === app.clientId &&
      grant.redirectUri === params.text('redirect_uri') &&
      Date.now() - grant.createdAt < CODE_LIFE_MS &&
      (grant.challenge === null || grant.challenge === challengeOf(params.text('code_verifier') ?? ''))
    if (!isGood) throw new Refusal(400, 'invalid_grant', { error_description: BAD_GRANT })
    return presentToken(tokenFor(app, grant.accountId, grant.scopes))
  }

  /** Mastodon returns the existing token for another login with the same scopes. */
  function tokenFor(app: App, accountId: string | null, scopes: string[]): Token {
    const wanted = scopes.toSorted().join(' ')
    const existing = state.tokens
      .values()
      .find(
        (token) =>
          !token.isRevoked &&
          token.clientId === app.clientId &&
          token.accountId === accountId &&
          token.scopes.toSorted().join(' ') === wanted,
      )
    if (existing) return existing
    const token = randomText()
    return state.tokens.set(token, {
      token,
      clientId: app.clientId,
      accountId,
      scopes,
      isRevoked: false,
      createdAt: Date.now(),
    })
  }

  function revoke(params: Params): SandboxResponse {
    const app = clientOf(params)
    const token = state.tokens.get(params.text('token') ?? '')
    if (token && token.clientId !== app.clientId) {
      throw new Refusal(403, 'unauthorized_client', {
        error_description: 'You are not authorized to revoke this token',
      })
    }
    if (token) state.tokens.set(token.token, { ...token, isRevoked: true })
    return { status: 200, body: {} }
  }

  /** @throws Refusal */
  function tokenOf(authorization: string | undefined): Token | null {
    if (authorization === undefined) return null
    const token = state.tokens.get(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '')
    if (token && !token.isRevoked) return token
    const error = token ? 'The access token was revoked' : 'The access token is invalid'
    throw new Refusal(
      401,
      error,
      {},
      { 'www-authenticate': `Bearer realm="Doorkeeper", error="invalid_token", error_description="${error}"` },
    )
  }

  return {
    registerApp,
    makeApp,
    authorize,
    decide,
    issueToken,
    revoke,
    tokenOf,

    /** @throws Refusal unless the token belongs to a user and has one of these scopes */
    userOf(token: Token | null, ...scopes: string[]): Account {
      const account = token?.accountId ? state.accounts.get(token.accountId) : undefined
      if (!token || !account) throw new Refusal(401, 'This API requires an authenticated user')
      if (scopes.some((scope) => covers(token.scopes, scope))) return account
      throw new Refusal(403, 'This action is outside the authorized scopes')
    },

    revokeAll(accountId: string): void {
      for (const token of state.tokens.values()) {
        if (token.accountId === accountId) state.tokens.set(token.token, { ...token, isRevoked: true })
      }
    },
  }
}

export type OAuth = ReturnType<typeof createOAuth>

export function presentApp({ id, name, website, scopes, redirectUris }: App) {
  return { id, name, website, scopes, redirect_uri: redirectUris.join('\n'), redirect_uris: redirectUris }
}

function presentToken({ token, scopes, createdAt }: Token): SandboxResponse {
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: {
      access_token: token,
      token_type: 'Bearer',
      scope: scopes.join(' '),
      created_at: Math.floor(createdAt / 1_000),
    },
  }
}

function scopesOf(params: Params): string[] {
  return (params.text('scope') ?? 'read').split(/[\s+]+/)
}

/** `read` includes every `read:...`. */
function covers(held: string[], scope: string): boolean {
  return held.includes(scope) || held.includes(scope.split(':')[0]!)
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

function randomText(): string {
  return randomBytes(32).toString('base64url')
}
