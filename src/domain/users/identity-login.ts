import type { PlatformReason } from '../posts/platform-reason.ts'
import { joinUrl } from '../shared/redirects.ts'

/** Why a login failed, as in the query of the frontend's login page. */
export type LoginRefusal = 'email_exists_different_provider' | 'no_email' | 'google_auth_failed' | 'session_expired'

/** Thrown when the identity provider refuses a login or sends an invalid response. */
export class IdentityError extends Error {
  /** The OAuth error and its description, sanitized; null when the provider named none. */
  readonly reason: PlatformReason | null

  constructor(message: string, reason: PlatformReason | null) {
    super(message)
    this.name = 'IdentityError'
    this.reason = reason
  }
}

/** Returns the OAuth redirect URL. It must be registered at the identity provider exactly as it is. */
export function buildIdentityCallbackUrl(publicUrl: string): string {
  return joinUrl(publicUrl, '/api/auth/google/callback')
}

/** Returns the login page with the error. Its empty fragment keeps browsers from carrying over that of the provider's redirect. */
export function buildLoginRefusedUrl(frontendUrl: string, refusal: LoginRefusal): string {
  return joinUrl(frontendUrl, `/login?error=${refusal}#`)
}

/** Returns the page that receives the token. The token is in the fragment, which browsers do not send to servers. */
export function buildLoggedInUrl(frontendUrl: string, accessToken: string): string {
  return joinUrl(frontendUrl, `/auth/callback#accessToken=${encodeURIComponent(accessToken)}`)
}
