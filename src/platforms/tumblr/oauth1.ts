import { createHmac, randomBytes } from 'node:crypto'
import { SECOND } from '../../domain/shared/times.ts'

export interface TokenPair {
  token: string
  secret: string
}

interface SignedRequest {
  method: string
  url: URL
  /** Additional OAuth parameters: `oauth_callback`, `oauth_verifier`. */
  oauth?: Record<string, string>
  /** Fields of a form-encoded body. JSON and multipart bodies are not signed. */
  fields?: Record<string, string>
  /** Absent before there is a token. */
  token?: TokenPair
}

interface Nonce {
  nonce: string
  /** Unix seconds. */
  timestamp: number
}

/** Creates the `Authorization` header of OAuth 1.0a with HMAC-SHA1 (RFC 5849 section 3). */
export function createSigner(consumer: TokenPair) {
  return function sign(request: SignedRequest, { nonce, timestamp }: Nonce = createNonce()): string {
    const { token, oauth = {} } = request
    const parameters: Record<string, string> = {
      ...oauth,
      oauth_consumer_key: consumer.token,
      oauth_nonce: nonce,
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: String(timestamp),
      oauth_version: '1.0',
      ...(token && { oauth_token: token.token }),
    }
    const key = `${encode(consumer.secret)}&${encode(token?.secret ?? '')}`
    const signature = createHmac('sha1', key).update(toSignatureBase(request, parameters)).digest('base64')
    const parts = Object.entries({ ...parameters, oauth_signature: signature })
    return `OAuth ${parts.map(([name, value]) => `${encode(name)}="${encode(value)}"`).join(', ')}`
  }
}

export type Signer = ReturnType<typeof createSigner>

function toSignatureBase({ method, url, fields = {} }: SignedRequest, oauth: Record<string, string>): string {
  const parameters = [...url.searchParams, ...Object.entries(fields), ...Object.entries(oauth)]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue))
    .map((pair) => pair.join('='))
  return [method, `${url.origin}${url.pathname}`, parameters.join('&')].map(encode).join('&')
}

/** Compares bytes, independent of any locale. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** Encodes by RFC 3986, which reserves more characters than `encodeURIComponent`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function createNonce(): Nonce {
  return { nonce: randomBytes(16).toString('hex'), timestamp: Math.floor(Date.now() / SECOND) }
}
