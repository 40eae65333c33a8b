import type { PlatformReason } from '../posts/platform-reason.ts'
import { joinUrl } from '../shared/redirects.ts'

/** Why nobody was logged in; the words of the query that the frontend's login page is given (contract section 2). */
export type LoginRefusal = 'email_exists_different_provider' | 'no_email' | 'google_auth_failed' | 'session_expired'

/** A login that the provider refused, or whose response is invalid. */
export class IdentityError extends Error {
  /** The OAuth error and its description, sanitized; null when the provider named none. */
  readonly reason: PlatformReason | null

  constructor(message: string, reason: PlatformReason | null) {
    super(message)
    this.name = 'IdentityError'
    this.reason = reason
  }
}

/** Where the identity provider sends users back to: what is registered there has to be this, to the letter. */
export function buildIdentityCallbackUrl(publicUrl: string): string {
  return joinUrl(publicUrl, '/api/auth/google/callback')
}

/** With an empty fragment, else browsers keep that of the provider's redirect. */
export function buildLoginRefusedUrl(frontendUrl: string, refusal: LoginRefusal): string {
  return joinUrl(frontendUrl, `/login?error=${refusal}#`)
}

/** Behind `#`, so that the token reaches the page and no server on the way. */
export function buildLoggedInUrl(frontendUrl: string, accessToken: string): string {
  return joinUrl(frontendUrl, `/auth/callback#accessToken=${encodeURIComponent(accessToken)}`)
}
