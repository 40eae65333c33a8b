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
  /** Of each call. */
  timeoutMs: number
}

/** What ties an answer of the provider to what it was asked for. */
export interface IdentityRequest {
  /** Where the user is sent back to. */
  redirectUri: string
  state: string
  nonce: string
  verifier: string
}

/** Who somebody is, by the word of the provider. */
export interface Identity {
  /** The provider's own id of the account; never given to another one. */
  subject: string
  /** Null when there is none, or when the provider does not know that it is theirs. */
  verifiedEmail: string | null
  name: string | null
  picture: string | null
}

interface Discovered {
  openid: typeof openid
  provider: openid.Configuration
}

const SCOPE = 'openid email profile'
const MAX_ANSWER_BYTES = 1_048_576
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

/**
 * A provider of OpenID Connect, such as Google. It is asked for its addresses when somebody first logs in; until that went well, every
 * login asks again.
 * @throws Error when the issuer is not https; on the same machine http will do
 */
export function createIdentityProvider(options: IdentityProviderOptions) {
  const { issuerUrl, clientId, clientSecret, userAgent, timeoutMs } = options
  const providerFetch = cappedFetch({ maxBytes: MAX_ANSWER_BYTES, userAgent })
  const issuer = new URL(issuerUrl)
  const isPlain = issuer.protocol === 'http:' && LOOPBACK.has(issuer.hostname)
  if (!isPlain && issuer.protocol !== 'https:') throw new Error('GOOGLE_ISSUER_URL must be an https address')
  let discovered: Promise<Discovered> | undefined

  /** The library is loaded with the first login: most processes see none. */
  async function ask(): Promise<Discovered> {
    const openid = await import('openid-client')
    const provider = await openid.discovery(issuer, clientId, {}, openid.ClientSecretPost(clientSecret), {
      // The ID token comes straight from the provider; its signature is looked at all the same.
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
      timeout: timeoutMs / SECOND,
      [openid.customFetch]: providerFetch as openid.CustomFetch,
    })
    return { openid, provider }
  }

  function discover(): Promise<Discovered> {
    discovered ??= ask().catch((error: unknown) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  return {
    /** The address of the provider's page. */
    async begin({ redirectUri, state, nonce, verifier }: IdentityRequest): Promise<string> {
      const { openid, provider } = await discover()
      const address = openid.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // Whoever shares a browser must be able to say that they are somebody else.
        prompt: 'select_account',
      })
      return address.href
    },

    /**
     * Exchanges the code of the callback, once.
     * @param query what the provider sent along, each parameter once
     * @throws IdentityError that says what the provider refused, or what is wrong with its answer
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
        return identityOf(tokens.claims()!)
      } catch (error) {
        // Without its cause, which holds what nobody should read in a log: the answer, the callback, the claims.
        const reason = oauthReason(error)
        const why = reason ? quotePlatform(reason, 'the provider') : descriptionOf(error)
        throw new IdentityError(`The login was not completed: ${why}`, reason)
      }
    },
  }
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>

function identityOf({ sub, email, email_verified, name, picture }: openid.IDToken): Identity {
  return {
    subject: sub,
    verifiedEmail: email_verified === true ? textOf(email) : null,
    name: textOf(name),
    picture: textOf(picture),
  }
}

/** Returns the OAuth error of a callback or of a token response; null when it has none. */
function oauthReason(error: unknown): PlatformReason | null {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return null
  const text = 'error_description' in error ? error.error_description : undefined
  return toPlatformReason({ code: error.error, ...(typeof text === 'string' && { text }) })
}

function descriptionOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim !== '' ? claim : null
}
