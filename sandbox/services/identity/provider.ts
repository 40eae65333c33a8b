import { createPrivateKey, sign, type JsonWebKey } from 'node:crypto'
import { Provider, interactionPolicy, type ClientAuthMethod, type KoaContextWithOIDC } from 'oidc-provider'
import { errorPage } from '../../platforms/shared/html.ts'
import { createMemory } from './memory.ts'
import type { Person, State } from './state.ts'

/** A change to a valid ID token. */
export interface Tampering {
  claims?: (claims: Record<string, unknown>) => Record<string, unknown>
  /** Signs the token in place of the provider's own key. */
  key?: JsonWebKey
}

const SCOPES = ['openid', 'email', 'profile']

/** Creates an OpenID Connect provider that behaves like Google where the difference is visible. */
export function createProvider(issuer: string, state: State, takeTampering: () => Tampering | undefined): Provider {
  const policy = interactionPolicy.base()
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
  const provider = new Provider(issuer, {
    adapter: createMemory(),
    clients: state.clients.values().map(({ id, secret, redirectUris }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: redirectUris,
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post' satisfies ClientAuthMethod,
    })),
    findAccount: (_, id) => {
      const person = state.people.get(id)
      return person && { accountId: id, claims: () => claimsOf(person) }
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    scopes: SCOPES,
    // Google's ID tokens contain all claims.
    conformIdTokenClaims: false,
    interactions: { policy, url: (_, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => false },
    jwks: { keys: [state.secrets.signing] },
    cookies: { keys: [state.secrets.cookies] },
    ttl: { Interaction: 600, Session: 3_600, Grant: 3_600, AuthorizationCode: 60, IdToken: 3_600, AccessToken: 3_600 },
    loadExistingGrant: grantEverything,
    renderError(ctx, { error, error_description: description }) {
      ctx.type = 'html'
      ctx.body = errorPage(ctx.status, `${error}: ${description}`).body
    },
  })
  provider.use(async (ctx, next) => {
    await next()
    const body = ctx.body as { id_token?: string } | undefined
    const tampering = ctx.oidc?.route === 'token' && body?.id_token ? takeTampering() : undefined
    if (tampering)
      ctx.body = { ...body, id_token: resign(body!.id_token!, { key: state.secrets.signing, ...tampering }) }
  })
  return provider
}

function claimsOf({ id, name, email, emailVerified, picture }: Person) {
  return {
    sub: id,
    ...(name !== '' && { name }),
    ...(picture !== null && { picture }),
    ...(email !== null && { email, email_verified: emailVerified }),
  }
}

/** Choosing an account also grants the scopes. */
async function grantEverything({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
  grant.addOIDCScope(SCOPES.join(' '))
  await grant.save()
  return grant
}

function resign(token: string, { claims = (same) => same, key }: Tampering & { key: JsonWebKey }): string {
  const [header, payload] = token.split('.') as [string, string, string]
  const original = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
  const tampered = `${header}.${Buffer.from(JSON.stringify(claims(original))).toString('base64url')}`
  const signature = sign('sha256', Buffer.from(tampered), createPrivateKey({ key, format: 'jwk' }))
  return `${tampered}.${signature.toString('base64url')}`
}
