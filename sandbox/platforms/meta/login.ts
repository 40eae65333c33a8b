import { createHmac, randomBytes } from 'node:crypto'
import type { SandboxResponse } from '../proxied-platform.ts'
import { chosenAccount } from '../shared/consent.ts'
import { errorPage, redirect } from '../shared/html.ts'
import { badParameter, callerOf, GraphRefusal, type GraphParams } from '../shared/graph/graph.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { People } from './people.ts'
import { dialogPage } from './pages.ts'
import type { App, MetaState, Person, Token } from './state.ts'
import type { Tokens } from './tokens.ts'

const CODE_LIFE_MS = 10 * 60_000
const SHORT_LIFE_MS = 90 * 60_000
const LONG_LIFE_MS = 60 * 86_400_000

/** The permissions that an application may request in the sandbox. */
const KNOWN_SCOPES = [
  'public_profile',
  'email',
  'instagram_basic',
  'instagram_content_publish',
  'instagram_manage_insights',
  'instagram_manage_comments',
  'pages_show_list',
  'pages_read_engagement',
  'pages_read_user_content',
  'pages_manage_posts',
  'pages_manage_engagement',
  'pages_manage_metadata',
  'read_insights',
  'business_management',
]

interface LoginDeps {
  state: MetaState
  tokens: Tokens
  people: People
  /** Each login lists the pages in another order. */
  changesPageOrder: boolean
}

/** Serves the login dialog and exchanges its codes for tokens. */
export function createLogin({ state, tokens, people, changesPageOrder }: LoginDeps) {
  let logins = 0

  /** Validates a login request. The error is a page if the redirect cannot be trusted, else a redirect. */
  function problemOf(params: GraphParams): SandboxResponse | null {
    const app = state.apps.get(params.get('client_id') ?? '')
    if (!app) return errorPage(400, 'Invalid App ID: The provided app ID does not look like a valid app ID.')
    const redirectUri = params.get('redirect_uri') ?? ''
    if (!app.redirectUris.includes(redirectUri)) {
      return errorPage(
        400,
        "URL Blocked: This redirect failed because the redirect URI is not whitelisted in the app's Client OAuth Settings.",
      )
    }
    const unknown = scopesOf(params).filter((scope) => !KNOWN_SCOPES.includes(scope))
    if (unknown.length > 0) return errorPage(400, `Invalid Scopes: ${unknown.join(', ')}.`)
    if ((params.get('response_type') ?? 'code') !== 'code')
      return errorPage(400, 'Only response_type=code is supported')
    return null
  }

  const pagesOf = (person: Person) => state.pages.values().filter(({ personId }) => personId === person.id)

  function showDialog(params: GraphParams): SandboxResponse {
    const problem = problemOf(params)
    if (problem) return problem
    const app = state.apps.get(params.get('client_id')!)!
    const persons = state.persons.values().map((person) => ({ person, pages: pagesOf(person) }))
    return dialogPage(app.name, scopesOf(params), persons)
  }

  /** Handles the two buttons of the page and its check boxes. */
  function decide(params: GraphParams): SandboxResponse {
    const problem = problemOf(params)
    if (problem) return problem
    const redirectUri = params.get('redirect_uri')!
    const answerState = params.get('state')
    if (params.get('decision') !== 'allow') {
      return redirect(redirectUri, {
        error: 'access_denied',
        error_code: '200',
        error_description: 'Permissions error',
        error_reason: 'user_denied',
        state: answerState,
      })
    }
    const person = chosenAccount({ account: params.get('account'), name: params.get('name') }, people)
    const declined = params.list('decline')
    const ids = pagesOf(person).map(({ id }) => id)
    logins += 1
    const first = changesPageOrder ? logins % Math.max(1, ids.length) : 0
    const sharedPageIds = without([...ids.slice(first), ...ids.slice(0, first)], params.list('hide'))
    const code = randomBytes(48).toString('base64url')
    state.codes.set(code, {
      code,
      appId: params.get('client_id')!,
      personId: person.id,
      redirectUri,
      scopes: [...new Set(['public_profile', ...without(scopesOf(params), declined)])],
      declined,
      pageIds: sharedPageIds,
      createdAt: Date.now(),
    })
    return redirect(`${redirectUri}#_=_`, { code, state: answerState })
  }

  /** @throws GraphRefusal */
  function appOf(params: GraphParams): App {
    const app = state.apps.get(params.get('client_id') ?? '')
    if (!app) throw new GraphRefusal({ code: 101, message: 'Error validating application. Invalid application ID.' })
    if (app.secret !== params.get('client_secret')) {
      throw new GraphRefusal({ code: 1, message: 'Error validating client secret.' })
    }
    return app
  }

  function issueToken(params: GraphParams): SandboxResponse {
    const app = appOf(params)
    // https://developers.facebook.com/docs/facebook-login/guides/access-tokens, app access tokens
    if (params.get('grant_type') === 'client_credentials') {
      return {
        status: 200,
        body: { access_token: `${app.id}|${randomBytes(16).toString('hex')}`, token_type: 'bearer' },
      }
    }
    return params.get('grant_type') === 'fb_exchange_token' ? exchangeToken(app, params) : exchangeCode(app, params)
  }

  function exchangeCode(app: App, params: GraphParams): SandboxResponse {
    const text = params.get('code')
    if (text === undefined) throw badParameter('Missing authorization code')
    const code = state.codes.get(text)
    // Each code is used up, even when the rest of the request is invalid.
    if (code) state.codes.delete(text)
    if (!code || code.appId !== app.id) {
      throw new GraphRefusal({ code: 100, subcode: 36009, message: 'This authorization code has been used.' })
    }
    if (code.redirectUri !== params.get('redirect_uri')) {
      throw new GraphRefusal({
        code: 100,
        subcode: 36008,
        message:
          'Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request',
      })
    }
    if (Date.now() - code.createdAt > CODE_LIFE_MS) {
      throw new GraphRefusal({ code: 100, subcode: 36007, message: 'This authorization code has expired.' })
    }
    const { personId, scopes, declined, pageIds } = code
    const person = state.persons.get(personId)!
    state.persons.set(personId, { ...person, grants: { ...person.grants, [app.id]: { granted: scopes, declined } } })
    return present(
      tokens.issue({ appId: app.id, personId, pageId: null, scopes, pageIds, expiresAt: soon(SHORT_LIFE_MS) }),
    )
  }

  function exchangeToken(app: App, params: GraphParams): SandboxResponse {
    const { token } = tokens.callerBy(params.get('fb_exchange_token') ?? '')
    if (token.appId !== app.id || token.pageId !== null) {
      throw new GraphRefusal({ code: 1, message: 'Invalid fb_exchange_token' })
    }
    const { appId, personId, pageId, scopes, pageIds } = token
    return present(tokens.issue({ appId, personId, pageId, scopes, pageIds, expiresAt: soon(LONG_LIFE_MS) }))
  }

  function permissions(call: MetaCall): SandboxResponse {
    const { token, person } = userOf(call)
    const { granted, declined } = person.grants[token.appId] ?? { granted: [], declined: [] }
    const data = [
      ...granted.map((permission) => ({ permission, status: 'granted' })),
      ...declined.map((permission) => ({ permission, status: 'declined' })),
    ]
    return { status: 200, body: { data } }
  }

  /** Removes the application from the person's list and invalidates all its tokens, including those of pages. */
  function removeApp(call: MetaCall): SandboxResponse {
    const { token, person } = userOf(call)
    const { [token.appId]: _, ...grants } = person.grants
    state.persons.set(person.id, { ...person, grants })
    tokens.end('removed', ({ personId, appId }) => personId === person.id && appId === token.appId)
    return { status: 200, body: { success: true } }
  }

  function debugToken({ params }: MetaCall): SandboxResponse {
    const app = state.apps.values().find(({ id, secret }) => params.get('access_token') === `${id}|${secret}`)
    if (!app) throw new GraphRefusal({ code: 190, message: 'Invalid OAuth access token signature.' })
    const token = state.tokens.get(params.get('input_token') ?? '')
    if (!token) {
      const error = { code: 190, message: 'The access token could not be decrypted' }
      return { status: 200, body: { data: { error, is_valid: false, scopes: [] } } }
    }
    return {
      status: 200,
      body: {
        data: {
          app_id: token.appId,
          type: token.pageId === null ? 'USER' : 'PAGE',
          application: app.name,
          expires_at: Math.floor(token.expiresAt / 1_000),
          is_valid: tokens.isAlive(token),
          issued_at: Math.floor(token.issuedAt / 1_000),
          scopes: token.scopes,
          user_id: token.personId,
          ...(token.pageId !== null && { profile_id: token.pageId }),
        },
      },
    }
  }

  /** @throws GraphRefusal unless the token is the user's own */
  function userOf(call: MetaCall) {
    const caller = callerOf(call)
    if (caller.token.pageId === null && call.ids[0] === caller.person.id) return caller
    throw new GraphRefusal({ code: 210, message: '(#210) This call requires a User access token.' })
  }

  const module: MetaModule = {
    routes: [
      ['GET', /^\/oauth\/access_token$/, ({ params }) => issueToken(params)],
      ['POST', /^\/oauth\/access_token$/, ({ params }) => issueToken(params)],
      ['GET', /^\/debug_token$/, debugToken],
      ['GET', /^\/(\d+)\/permissions$/, permissions],
      ['DELETE', /^\/(\d+)\/permissions$/, removeApp],
    ],
    node(id, { caller }) {
      const person = state.persons.get(id)
      if (!person || caller?.person.id !== id || caller.page) return null
      return { type: 'User', fields: { id, name: person.name, email: undefined }, byDefault: ['name', 'id'] }
    },
  }

  return { ...module, showDialog, decide }
}

/** Optional, but it must be valid when it is sent. */
export function assertProof(token: Token, app: App | undefined, proof: string | undefined): void {
  if (proof === undefined) return
  const right = createHmac('sha256', app?.secret ?? '')
    .update(token.token)
    .digest('hex')
  if (proof !== right) {
    throw new GraphRefusal({ code: 100, message: 'Invalid appsecret_proof provided in the API argument' })
  }
}

function present({ token, expiresAt }: Token): SandboxResponse {
  const seconds = Math.floor((expiresAt - Date.now()) / 1_000)
  return { status: 200, body: { access_token: token, token_type: 'bearer', expires_in: seconds } }
}

function scopesOf(params: GraphParams): string[] {
  return (params.get('scope') ?? 'public_profile').split(/[\s,]+/).filter(Boolean)
}

function without(list: string[], unwanted: string[]): string[] {
  return list.filter((one) => !unwanted.includes(one))
}

function soon(ms: number): number {
  return Date.now() + ms
}
