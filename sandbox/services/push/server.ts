import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { createVerifier } from 'fast-jwt'
import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { escapeHtml, page } from '../../platforms/shared/html.ts'
import { createSimulatorServer, type Call } from '../../platforms/shared/server.ts'
import { fcmError, readMessage, unregistered } from './messages.ts'
import type { PushState } from './state.ts'

const TOKEN_LIFE_SECONDS = 3_600
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const SHOWN_PUSHES = 100
const MAX_BODY_BYTES = 64 * 1_024

interface PushServerOptions {
  state: PushState
  base(): string
}

/** Serves the access token endpoint, the message endpoint, and a page for people. */
export function createPushServer({ state, base }: PushServerOptions): Server {
  const { account } = state
  const accessTokens = new Map<string, number>()

  function issueToken({ params }: Call): SandboxResponse {
    const isGood =
      params.text('grant_type') === GRANT && isAuthentic(params.text('assertion') ?? '', `${base()}/token`, account)
    if (!isGood) return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }
    const token = `ya29.${randomBytes(24).toString('base64url')}`
    accessTokens.set(token, Date.now() + TOKEN_LIFE_SECONDS * 1_000)
    return { status: 200, body: { access_token: token, expires_in: TOKEN_LIFE_SECONDS, token_type: 'Bearer' } }
  }

  function take({ id, params, request }: Call): SandboxResponse {
    if (!isKnown(request)) {
      return fcmError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    }
    if (id !== account.projectId) return fcmError(404, 'NOT_FOUND', 'Requested entity was not found.')
    const message = readMessage(params.json)
    if (state.unregistered.get(message.token)) throw unregistered()
    return { status: 200, body: { name: state.keep(message).name } }
  }

  function isKnown({ headers }: IncomingMessage): boolean {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    return (accessTokens.get(token) ?? 0) > Date.now()
  }

  return createSimulatorServer({
    base,
    maxBodyBytes: MAX_BODY_BYTES,
    enter: () => ({}),
    routes: [
      ['POST', /^\/token$/, issueToken],
      ['POST', /^\/v1\/projects\/([^/]+)\/messages:send$/, take],
      ['GET', /^\/$/, () => pushesPage(state)],
    ],
    notFound: () => fcmError(404, 'NOT_FOUND', 'Not found'),
    failed: () => fcmError(500, 'INTERNAL', 'Internal error'),
  })
}

function isAuthentic(assertion: string, audience: string, { publicKey, clientEmail }: PushState['account']): boolean {
  try {
    createVerifier({
      key: publicKey,
      algorithms: ['RS256'],
      allowedIss: clientEmail,
      allowedAud: audience,
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'scope'],
    })(assertion)
    return true
  } catch {
    return false
  }
}

function pushesPage({ pushes }: PushState): SandboxResponse {
  const shown = pushes.values().slice(-SHOWN_PUSHES).toReversed()
  const articles = shown.map(({ message, at }) => {
    const { notification, data, token } = message
    const link = data['link'] ? `<p><a href="${escapeHtml(data['link'])}">${escapeHtml(data['link'])}</a></p>` : ''
    return `<article><p><b>${escapeHtml(notification.title)}</b> ${escapeHtml(at)}</p><p>${escapeHtml(notification.body)}</p>${link}<p><small>to ${escapeHtml(token)}</small></p></article><hr>`
  })
  return page(200, 'Push messages', articles.join('') || '<p>None yet.</p>')
}
