import { randomBytes } from 'node:crypto'
import type { SandboxResponse } from '../proxied-platform.ts'
import { chosenAccount, consentPage, nameField } from '../shared/consent.ts'
import { GraphRefusal, type GraphParams } from '../shared/graph/graph.ts'
import { errorPage, redirect } from '../shared/html.ts'
import type { Accounts } from './accounts.ts'
import type { State } from './state.ts'
import type { Tokens } from './tokens.ts'

const CODE_LIFE_MS = 3_600_000
const KNOWN_SCOPES = [
  'threads_share_to_instagram',
  'threads_basic',
  'threads_content_publish',
  'threads_manage_insights',
  'threads_manage_replies',
  'threads_read_replies',
  'threads_delete',
]

/** Serves the login page and exchanges its codes. */
export function createLogin({ state, tokens, accounts }: { state: State; tokens: Tokens; accounts: Accounts }) {
  /** Validates a login request. */
  function problemOf(params: GraphParams): SandboxResponse | null {
    const app = state.apps.get(params.get('client_id') ?? '')
    if (!app) return errorPage(400, 'Invalid app ID')
    if (!app.redirectUris.includes(params.get('redirect_uri') ?? '')) {
      return errorPage(
        400,
        "URL Blocked: This redirect failed because the redirect URI is not white-listed in the app's settings.",
      )
    }
    if (params.get('response_type') !== 'code') return errorPage(400, 'response_type must be code')
    const scopes = scopesOf(params)
    if (!scopes.includes('threads_basic') || !scopes.every((scope) => KNOWN_SCOPES.includes(scope))) {
      return errorPage(400, 'Invalid scopes')
    }
    return null
  }

  return {
    showPage(params: GraphParams): SandboxResponse {
      return (
        problemOf(params) ??
        consentPage({
          title: 'Log in with Threads',
          app: state.apps.get(params.get('client_id')!)!.name,
          scopes: scopesOf(params),
          accounts: state.accounts.values().map(({ id, username }) => ({ id, label: `@${username}` })),
          newFields: nameField('User name', 'letters, digits, _ and periods'),
        })
      )
    },

    /** Handles the two buttons of the page; scopes under `decline` were switched off. */
    decide(params: GraphParams): SandboxResponse {
      const problem = problemOf(params)
      if (problem) return problem
      const redirectUri = params.get('redirect_uri')!
      if (params.get('decision') !== 'allow') {
        return redirect(redirectUri, {
          error: 'access_denied',
          error_reason: 'user_denied',
          error_description: 'The user denied your request.',
          state: params.get('state'),
        })
      }
      const account = chosenAccount({ account: params.get('account'), name: params.get('name') }, accounts)
      const code = `AQ${randomBytes(48).toString('base64url')}`
      const declined = params.list('decline')
      state.codes.set(code, {
        code,
        appId: params.get('client_id')!,
        accountId: account.id,
        redirectUri,
        scopes: scopesOf(params).filter((scope) => !declined.includes(scope)),
        createdAt: Date.now(),
      })
      const { headers, ...answer } = redirect(redirectUri, { code, state: params.get('state') })
      return { ...answer, headers: { location: `${String(headers?.['location'])}#_` } }
    },

    exchangeCode(params: GraphParams): SandboxResponse {
      const app = state.apps.get(params.get('client_id') ?? '')
      if (!app || app.secret !== params.get('client_secret')) {
        throw new GraphRefusal({ code: 101, message: 'Error validating application. Invalid client secret.' })
      }
      if (params.get('grant_type') !== 'authorization_code') {
        throw new GraphRefusal({ code: 100, message: 'Invalid grant_type' })
      }
      const code = state.codes.get(params.get('code') ?? '')
      // Each code is used up, even when the rest of the request is invalid.
      if (code) state.codes.delete(code.code)
      const isGood =
        code &&
        code.appId === app.id &&
        code.redirectUri === params.get('redirect_uri') &&
        Date.now() - code.createdAt < CODE_LIFE_MS
      if (!isGood) {
        throw new GraphRefusal({ code: 100, subcode: 36_009, message: 'This authorization code has been used.' })
      }
      const { token } = tokens.issue({ ...code, isLong: false })
      // The id is a JSON number that is too long for JavaScript.
      const body = `{"access_token":${JSON.stringify(token)},"user_id":${code.accountId}}`
      return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body }
    },
  }
}

function scopesOf(params: GraphParams): string[] {
  return (params.get('scope') ?? '').split(/[\s,]+/).filter(Boolean)
}
