import type * as openid from 'openid-client'
import { IdentityError } from '../../domain/users/identity-login.ts'
import { quotePlatform, toPlatformReason, type PlatformReason } from '../../domain/posts/platform-reason.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { cappedFetch } from '../shared/capped-fetch.ts'

export interface IdentityProviderOptions {
  issuerUrl: string
  clientId: string
  clientSecret: string
  userAgent: string
  /** Deadline of each call. */
  timeoutMs: number
}

/** Binds a response of the provider to its request. */
export interface IdentityRequest {
  /** The address to which the provider redirects the user. */
  redirectUri: string
  state: string
  nonce: string
  verifier: string
}

/** A user's identity as stated by the provider. */
export interface Identity {
  /** The provider's own id of the account, which is never reused. */
  subject: string
  /** Null when there is none, or when the provider has not verified it. */
  verifiedEmail: string | null
  name: string | null
  picture: string | null
}

interface Discovered {
  openid: typeof openid
  provider: openid.Configuration
}

const SCOPE = 'openid email profile'
const MAX_RESPONSE_BYTES = 1_048_576
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

/**
 * An OpenID Connect provider, such as Google. Its endpoints are discovered at the first login; until that succeeds, every login
 * retries.
 * @throws Error when the issuer is not https; on the same machine http is accepted
 */
export function createIdentityProvider(options: IdentityProviderOptions) {
  const { issuerUrl, clientId, clientSecret, userAgent, timeoutMs } = options
  const providerFetch = cappedFetch({ maxBytes: MAX_RESPONSE_BYTES, userAgent })
  const issuer = new URL(issuerUrl)
  const isPlain = issuer.protocol === 'http:' && LOOPBACK.has(issuer.hostname)
  if (!isPlain && issuer.protocol !== 'https:') throw new Error('GOOGLE_ISSUER_URL must be an https address')
  let discovered: Promise<Discovered> | undefined

  /** Loads the library with the first login, because most processes serve none. */
  async function loadAndDiscover(): Promise<Discovered> {
    const openid = await import('openid-client')
    const provider = await openid.discovery(issuer, clientId, {}, openid.ClientSecretPost(clientSecret), {
      // The ID token comes directly from the provider; its signature is verified anyway.
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
      timeout: timeoutMs / SECOND,
      [openid.customFetch]: providerFetch as openid.CustomFetch,
    })
    return { openid, provider }
  }

  function discover(): Promise<Discovered> {
    discovered ??= loadAndDiscover().catch((error: unknown) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  return {
    /** Returns the address of the provider's login page. */
    async begin({ redirectUri, state, nonce, verifier }: IdentityRequest): Promise<string> {
      const { openid, provider } = await discover()
      const address = openid.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // Users of a shared browser must be able to choose another account.
        prompt: 'select_account',
      })
      return address.href
    },

    /**
     * Exchanges the code of the callback, once.
     * @param query the query parameters from the provider, each once
     * @throws IdentityError with the provider's refusal, or the problem with its response
     */
    async complete(query: Record<string, string>, { redirectUri, state, nonce, verifier }: IdentityRequest) {
      const callback = new URL(redirectUri)
      callback.search = new URLSearchParams(query).toString()
      const { openid, provider } = await discover()
      try {
        const tokens = await openid.authorizationCodeGrant(provider, callback, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        return toIdentity(tokens.claims()!)
      } catch (error) {
        // The cause is dropped, because it holds the response, the callback and the claims, which must not be logged.
        const reason = toOAuthReason(error)
        const why = reason ? quotePlatform(reason, 'the provider') : toDescription(error)
        throw new IdentityError(`The login was not completed: ${why}`, reason)
      }
    },
  }
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>

function toIdentity({ sub, email, email_verified, name, picture }: openid.IDToken): Identity {
  return {
    subject: sub,
    verifiedEmail: email_verified === true ? toText(email) : null,
    name: toText(name),
    picture: toText(picture),
  }
}

/** Returns the OAuth error of a callback or of a token response; null when it has none. */
function toOAuthReason(error: unknown): PlatformReason | null {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return null
  const text = 'error_description' in error ? error.error_description : undefined
  return toPlatformReason({ code: error.error, ...(typeof text === 'string' && { text }) })
}

function toDescription(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

function toText(claim: unknown): string | null {
  return typeof claim === 'string' && claim !== '' ? claim : null
}
