import { createSigner } from 'fast-jwt'
import { HOUR, SECOND } from '../../domain/shared/times.ts'
import { cappedFetch } from '../shared/capped-fetch.ts'

const MAX_RESPONSE_BYTES = 65_536
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'

export interface ServiceAccountOptions {
  clientEmail: string
  /** A key in PEM; `\n` may replace a line end, as in the files that Google issues. */
  privateKey: string
  tokenUrl: string
  userAgent: string
  timeoutMs: number
}

/**
 * Exchanges a JWT signed by a service account for an access token (RFC 7523), like firebase-admin but with a configurable
 * address.
 * @throws Error that names the variable of a key that cannot be used, never its value
 */
export function createServiceAccount(options: ServiceAccountOptions) {
  const { clientEmail, privateKey, tokenUrl, userAgent, timeoutMs } = options
  const sign = createJwtSigner()
  const limitedFetch = cappedFetch({ maxBytes: MAX_RESPONSE_BYTES, userAgent })

  function createJwtSigner() {
    const key = privateKey.replaceAll('\\n', '\n')
    try {
      return createSigner({ key, algorithm: 'RS256', iss: clientEmail, aud: tokenUrl, expiresIn: HOUR })
    } catch (error) {
      throw new Error('FCM_PRIVATE_KEY must be a private RSA key in PEM', { cause: error })
    }
  }

  return {
    /** The shape that firebase-admin expects; `expires_in` is in seconds. */
    async getAccessToken(): Promise<{ access_token: string; expires_in: number }> {
      const response = await limitedFetch(tokenUrl, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: sign({ scope: SCOPE }),
        }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const body = (await response.json()) as { access_token?: unknown; expires_in?: unknown }
      const { access_token: token, expires_in: seconds } = body
      if (!response.ok || typeof token !== 'string' || typeof seconds !== 'number') {
        throw new Error(`the token endpoint answered ${response.status}`)
      }
      return { access_token: token, expires_in: Math.min(seconds, HOUR / SECOND) }
    },
  }
}
