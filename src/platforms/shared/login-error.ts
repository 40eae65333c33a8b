import { PlatformError } from '../errors.ts'

/**
 * The error for a callback without an authorization code: the user denied access, or the platform refused (RFC 6749
 * section 4.1.2.1).
 */
export function toLoginError(label: string, { error, error_description: text }: Record<string, string>): PlatformError {
  const isDenied = error === 'access_denied'
  const message = isDenied ? `Access was denied on ${label}` : `${label} returned no login`
  return new PlatformError('permission', message, {
    certain: true,
    reason: { code: error, text },
    connectReason: isDenied ? 'DENIED' : 'LOGIN_REFUSED',
  })
}
