import type { Server } from 'node:http'
import type { SandboxResponse } from '../proxied-platform.ts'
import { accountPicture } from '../shared/picture.ts'
import { createSimulatorServer, type Call, type Route } from '../shared/server.ts'
import { translate, type Language } from './language.ts'
import { Refusal } from './refusal.ts'
import type { MediaLimits, MediaStore } from './media.ts'
import { presentApp, type OAuth } from './oauth.ts'
import { startPage, statusesPage } from './pages.ts'
import type { createRateLimits } from './rate-limits.ts'
import type { Account, State, Status, Token } from './state.ts'
import type { Statuses } from './statuses.ts'

interface ServerDeps {
  state: State
  oauth: OAuth
  media: MediaStore
  statuses: Statuses
  countRequest: ReturnType<typeof createRateLimits>
  base(): string
  title: string
  maxCharacters: number
  types: string[]
  limits: MediaLimits
  charactersPerUrl: number
  version: string
  showsSeveral: boolean
  hasV2Instance: boolean
  namesApplication: boolean
  language: Language
}

interface Known {
  token: Token | null
}

const MAX_BODY_BYTES = 110 * 1_048_576
const SCOPES = ['read', 'read:accounts', 'read:statuses', 'write', 'write:media', 'write:statuses', 'profile']

/** Serves the part of Mastodon's API that a publishing service uses, and a few pages. */
export function createMastodonServer(deps: ServerDeps): Server {
  const { state, oauth, media, statuses, base } = deps

  const shown = (list: Status[]) =>
    list
      .toReversed()
      .slice(0, 100)
      .map((status) => ({ status, account: state.accounts.get(status.accountId)!, html: statuses.html(status) }))

  const routes: Route<Call & Known>[] = [
    ['GET', /^\/$/, () => startPage(deps.title, state.accounts.values(), shown(state.statuses.values()))],
    ['GET', /^\/@(\w+)$/, ({ id }) => statusesPage(`@${id}`, shown(statuses.listOf(accountNamed(id).id)))],
    ['GET', /^\/@\w+\/(\d+)$/, ({ id }) => statusesPage('Post', shown([statuses.find(id)]))],
    ['GET', /^\/media\/(\d+)$/, ({ id }) => media.file(id)],
    ['GET', /^\/avatars\/(\d+)\.png$/, ({ id }) => accountPicture(id)],
    ['POST', /^\/api\/v1\/apps$/, ({ params }) => oauth.registerApp(params)],
    ['GET', /^\/oauth\/authorize$/, ({ params }) => oauth.authorize(params)],
    ['POST', /^\/oauth\/authorize$/, ({ params }) => oauth.decide(params)],
    ['POST', /^\/oauth\/token$/, ({ params }) => oauth.issueToken(params)],
    ['POST', /^\/oauth\/revoke$/, ({ params }) => oauth.revoke(params)],
    ['GET', /^\/\.well-known\/oauth-authorization-server$/, () => ({ status: 200, body: serverMetadata() })],
    ['GET', /^\/api\/v2\/instance$/, () => v2Instance()],
    ['GET', /^\/api\/v1\/instance$/, () => ({ status: 200, body: { uri: new URL(base()).host, ...instance() } })],
    ['GET', /^\/api\/v1\/apps\/verify_credentials$/, ({ token }) => ownApp(token)],
    ['GET', /^\/api\/v1\/accounts\/verify_credentials$/, ({ token }) => ownAccount(token)],
    [
      'GET',
      /^\/api\/v1\/accounts\/(\d+)\/statuses$/,
      ({ token, id, params }) => {
        oauth.userOf(token, 'read:statuses')
        return statuses.page(id, params)
      },
    ],
    ['POST', /^\/api\/v2\/media$/, ({ token, params }) => media.upload(oauth.userOf(token, 'write:media'), params)],
    ['GET', /^\/api\/v1\/media\/(\d+)$/, ({ token, id }) => media.find(oauth.userOf(token, 'write:media'), id)],
    [
      'PUT',
      /^\/api\/v1\/media\/(\d+)$/,
      ({ token, id, params }) => media.describe(oauth.userOf(token, 'write:media'), id, params),
    ],
    [
      'POST',
      /^\/api\/v1\/statuses$/,
      ({ token, params, request }) => {
        const key = request.headers['idempotency-key'] as string | undefined
        return statuses.create(oauth.userOf(token, 'write:statuses'), token!.clientId, params, key)
      },
    ],
    [
      'GET',
      /^\/api\/v1\/statuses$/,
      ({ token, params }) => {
        if (!deps.showsSeveral) throw new Refusal(404, 'Not Found')
        return statuses.several(readerOf(token), params.list('id'))
      },
    ],
    [
      'GET',
      /^\/api\/v1\/statuses\/(\d+)$/,
      ({ token, id }) => ({ status: 200, body: statuses.present(statuses.findFor(readerOf(token), id)) }),
    ],
    [
      'GET',
      /^\/api\/v1\/statuses\/(\d+)\/source$/,
      ({ token, id }) => statuses.source(oauth.userOf(token, 'read:statuses'), id),
    ],
    [
      'PUT',
      /^\/api\/v1\/statuses\/(\d+)$/,
      ({ token, id, params }) => statuses.edit(oauth.userOf(token, 'write:statuses'), id, params),
    ],
    [
      'DELETE',
      /^\/api\/v1\/statuses\/(\d+)$/,
      ({ token, id }) => {
        const status = statuses.findOwn(oauth.userOf(token, 'write:statuses'), id)
        const body = { ...statuses.present(status), text: status.text }
        statuses.remove(status)
        return { status: 200, body }
      },
    ],
  ]

  /** Public data needs no token, but a token that is sent must have the scope to read. */
  function readerOf(token: Token | null): Account | null {
    return token && oauth.userOf(token, 'read:statuses')
  }

  function accountNamed(username: string) {
    const account = state.accounts.values().find((one) => one.username === username)
    if (!account) throw new Refusal(404, 'Record not found')
    return account
  }

  function ownApp(token: Token | null): SandboxResponse {
    if (!deps.namesApplication) throw new Refusal(404, 'Not Found')
    const app = token && state.apps.get(token.clientId)
    if (!app) throw new Refusal(401, 'The access token is invalid')
    return { status: 200, body: presentApp(app) }
  }

  function ownAccount(token: Token | null): SandboxResponse {
    const account = oauth.userOf(token, 'read:accounts', 'profile')
    const source = { privacy: 'public', sensitive: false, language: '', note: account.note, fields: [] }
    return { status: 200, body: { ...statuses.presentAccount(account), source } }
  }

  function serverMetadata() {
    return {
      issuer: `${base()}/`,
      authorization_endpoint: `${base()}/oauth/authorize`,
      token_endpoint: `${base()}/oauth/token`,
      revocation_endpoint: `${base()}/oauth/revoke`,
      app_registration_endpoint: `${base()}/api/v1/apps`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
    }
  }

  function v2Instance(): SandboxResponse {
    if (!deps.hasV2Instance) throw new Refusal(404, 'Not Found')
    return { status: 200, body: instance() }
  }

  function instance() {
    return {
      domain: new URL(base()).host,
      title: deps.title,
      version: deps.version,
      configuration: {
        statuses: {
          max_characters: deps.maxCharacters,
          max_media_attachments: 4,
          characters_reserved_per_url: deps.charactersPerUrl,
        },
        media_attachments: {
          supported_mime_types: deps.types,
          description_limit: deps.limits.description,
          image_size_limit: deps.limits.imageBytes,
          image_matrix_limit: deps.limits.imagePixels,
          video_size_limit: deps.limits.videoBytes,
          video_frame_rate_limit: deps.limits.videoFrameRate,
          video_matrix_limit: deps.limits.videoPixels,
        },
      },
    }
  }

  return createSimulatorServer<Known>({
    base,
    routes,
    enter(request, { pathname }, headers) {
      if (!pathname.startsWith('/api/')) return { token: null }
      const token = oauth.tokenOf(request.headers.authorization)
      Object.assign(headers, deps.countRequest(request, pathname, token?.token ?? 'anybody'))
      return { token }
    },
    translate: (refusal) => translate(refusal, deps.language),
    notFound: () => ({ status: 404, body: { error: 'Record not found' } }),
    failed: () => ({ status: 500, body: { error: 'There was a problem processing your request' } }),
    maxBodyBytes: MAX_BODY_BYTES,
  })
}
