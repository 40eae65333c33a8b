import type { SandboxResponse } from '../proxied-platform.ts'
import { chosenAccount, consentPage, nameField } from '../shared/consent.ts'
import { errorPage, redirect } from '../shared/html.ts'
import type { Params } from '../shared/params.ts'
import type { Call } from '../shared/server.ts'
import type { Accounts } from './accounts.ts'
import { randomText } from './random-text.ts'
import { OAuthRefusal, Refusal } from './refusal.ts'
import { isSignedRightly, readOAuthHeader } from './signature.ts'
import type { Account, App, RequestToken, State } from './state.ts'

const REQUEST_TOKEN_LIFE_MS = 10 * 60_000
/** The maximum difference between the clocks. */
const MAX_SKEW_SECONDS = 300

/** The signer of a call. */
interface Signer {
  app: App
  oauth: Map<string, string>
}

/** The three OAuth 1.0a calls, the login page, and the verification of signed calls. */
export function createOAuth(state: State, accounts: Accounts, confirmsCallback: boolean) {
  /** Nonces within the time in which they could be replayed. */
  const nonces = new Map<string, number>()

  /** @throws OAuthRefusal, the same for every kind of error */
  function verify({ request, url, params }: Call, tokenSecretOf: (token: string, app: App) => string | null): Signer {
    const oauth = readOAuthHeader(request.headers.authorization)
    const app = oauth && state.apps.get(oauth.get('oauth_consumer_key') ?? '')
    const token = oauth?.get('oauth_token')
    const tokenSecret = app && (token === undefined ? '' : tokenSecretOf(token, app))
    const isGood =
      app &&
      typeof tokenSecret === 'string' &&
      oauth.get('oauth_signature_method') === 'HMAC-SHA1' &&
      (oauth.get('oauth_version') ?? '1.0') === '1.0' &&
      isSignedRightly({
        method: request.method!,
        url,
        oauth,
        fields: params.fields,
        consumerSecret: app.consumerSecret,
        tokenSecret,
      }) &&
      isFresh(oauth)
    if (!isGood) throw new OAuthRefusal(401, 'oauth_signature does not match expected value')
    return { app, oauth }
  }

  function isFresh(oauth: Map<string, string>): boolean {
    const [timestamp, nonce = ''] = [oauth.get('oauth_timestamp') ?? '', oauth.get('oauth_nonce')]
    const now = Math.floor(Date.now() / 1_000)
    if (!/^\d+$/.test(timestamp) || nonce === '' || Math.abs(Number(timestamp) - now) > MAX_SKEW_SECONDS) return false
    const name = [oauth.get('oauth_consumer_key'), oauth.get('oauth_token') ?? '', timestamp, nonce].join('/')
    if (nonces.has(name)) return false
    nonces.set(name, now)
    for (const [old, at] of nonces) {
      if (now - at <= 2 * MAX_SKEW_SECONDS) break
      nonces.delete(old)
    }
    return true
  }

  function requestToken(call: Call): SandboxResponse {
    const { app, oauth } = verify(call, () => null)
    const callback = oauth.get('oauth_callback') ?? app.callbackUrl
    if (!isCallbackOf(app, callback)) throw new OAuthRefusal(400, 'oauth_callback is not the one that is registered')
    const pair = newPair()
    const { consumerKey } = app
    const requestToken = { ...pair, consumerKey, callback, createdAt: Date.now(), accountId: null, verifier: null }
    const { token, secret } = state.requestTokens.set(pair.token, requestToken)
    return formAnswer({
      oauth_token: token,
      oauth_token_secret: secret,
      oauth_callback_confirmed: String(confirmsCallback),
    })
  }

  function open(token: string | undefined): RequestToken | null {
    const found = state.requestTokens.get(token ?? '')
    return found && Date.now() - found.createdAt < REQUEST_TOKEN_LIFE_MS ? found : null
  }

  function authorize(params: Params): SandboxResponse {
    const requestToken = open(params.text('oauth_token'))
    if (!requestToken || requestToken.verifier !== null) return errorPage(400, 'This login request no longer exists')
    return consentPage({
      title: 'Grant access',
      app: state.apps.get(requestToken.consumerKey)!.name,
      scopes: ['read your blogs', 'write posts'],
      accounts: state.accounts.values().map(({ id, name }) => ({ id, label: name })),
      newFields: nameField('Blog name', 'lower-case letters, digits and hyphens'),
    })
  }

  /** Handles the two buttons of the page. */
  function decide(params: Params): SandboxResponse {
    const requestToken = open(params.text('oauth_token'))
    if (!requestToken || requestToken.verifier !== null) return errorPage(400, 'This login request no longer exists')
    if (params.text('decision') !== 'allow') {
      state.requestTokens.delete(requestToken.token)
      return redirect(requestToken.callback, { oauth_token: requestToken.token })
    }
    const account = chosenAccount({ account: params.text('account'), name: params.text('name') }, accounts)
    const verifier = randomText()
    state.requestTokens.set(requestToken.token, { ...requestToken, accountId: account.id, verifier })
    return redirect(requestToken.callback, { oauth_token: requestToken.token, oauth_verifier: verifier })
  }

  function accessToken(call: Call): SandboxResponse {
    let requestToken: RequestToken | null = null
    const { oauth } = verify(call, (token, app) => {
      requestToken = open(token)
      return requestToken?.consumerKey === app.consumerKey ? requestToken.secret : null
    })
    const { token, accountId, verifier, consumerKey } = requestToken!
    // Each token is used up, even when the verifier is wrong.
    state.requestTokens.delete(token)
    const given = oauth.get('oauth_verifier') ?? call.url.searchParams.get('oauth_verifier')
    if (accountId === null || verifier === null || given !== verifier) {
      throw new OAuthRefusal(401, 'Missing or invalid oauth_verifier.')
    }
    const granted = newPair()
    state.accessTokens.set(granted.token, { ...granted, consumerKey, accountId, isRevoked: false })
    return formAnswer({ oauth_token: granted.token, oauth_token_secret: granted.secret })
  }

  /** Returns the user whose token signed the call. @throws Refusal */
  function userOf(call: Call): Account {
    try {
      const { oauth } = verify(call, (token, app) => {
        const found = state.accessTokens.get(token)
        return found && !found.isRevoked && found.consumerKey === app.consumerKey ? found.secret : null
      })
      const token = state.accessTokens.get(oauth.get('oauth_token') ?? '')
      if (token) return state.accounts.get(token.accountId)!
    } catch (error) {
      if (!(error instanceof OAuthRefusal)) throw error
    }
    throw new Refusal(401, 'Unauthorized', 1016)
  }

  return {
    requestToken,
    authorize,
    decide,
    accessToken,
    userOf,

    /** Requires a signature, or the consumer key as `api_key`, for public data. @throws Refusal */
    readerOf(call: Call): Account | null {
      if (call.request.headers.authorization !== undefined) return userOf(call)
      if (state.apps.get(call.url.searchParams.get('api_key') ?? '')) return null
      throw new Refusal(401, 'Unauthorized', 1016)
    },

    revokeAll(accountId: string): void {
      for (const token of state.accessTokens.values()) {
        if (token.accountId === accountId) state.accessTokens.set(token.token, { ...token, isRevoked: true })
      }
    },
  }
}

export type OAuth = ReturnType<typeof createOAuth>

/** Only a query may be added to the registered callback. */
function isCallbackOf({ callbackUrl }: App, callback: string): boolean {
  return callback === callbackUrl || callback.startsWith(`${callbackUrl}?`)
}

function formAnswer(fields: Record<string, string>): SandboxResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  }
}

function newPair() {
  return { token: randomText(), secret: randomText() }
}
