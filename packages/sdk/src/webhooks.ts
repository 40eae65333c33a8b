import { WebhookVerificationError } from './errors.ts'

const PREFIX = 'whsec_'
const DEFAULT_TOLERANCE_SECONDS = 300

export interface VerifyOptions {
  /** The secret of the endpoint (`whsec_…`), or several during a rotation. */
  secret: string | string[]
  /** The headers of the request; names in any case. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The body exactly as it arrived, before any parser. */
  body: string | Uint8Array
  /** How far the time of the request may differ from now; default 300. */
  toleranceSeconds?: number
  /** Milliseconds since 1970; for tests. */
  now?: number
}

/**
 * Verifies a request as Standard Webhooks defines it, and returns its parsed body.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook<T = unknown>(options: VerifyOptions): Promise<T> {
  const id = readHeader(options.headers, 'webhook-id')
  const timestamp = readHeader(options.headers, 'webhook-timestamp')
  const signatures = readHeader(options.headers, 'webhook-signature')
  checkTime(timestamp, options)
  const body = typeof options.body === 'string' ? new TextEncoder().encode(options.body) : options.body
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  if (!(await isSigned(signed, signatures, [options.secret].flat()))) {
    throw new WebhookVerificationError('No signature of the request matches the secret.')
  }
  return JSON.parse(new TextDecoder().decode(body)) as T
}

function readHeader(headers: VerifyOptions['headers'], name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([header]) => header.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`)
  return value
}

function checkTime(timestamp: string, options: VerifyOptions): void {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now() } = options
  const differsBy = Math.abs(now / 1_000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || differsBy > toleranceSeconds) {
    throw new WebhookVerificationError('The time of the request is too far from now.')
  }
}

/** Compares every signature with every secret. WebCrypto compares in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, signatures: string, secrets: string[]): Promise<boolean> {
  const candidates = signatures.split(' ').flatMap((entry) => {
    const [version, value = ''] = entry.split(',')
    return version === 'v1' ? (decodeBase64(value) ?? []) : []
  })
  for (const secret of secrets) {
    const bytes = decodeBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
    if (bytes === null || bytes.length === 0) throw new TypeError('The webhook secret is not valid base64.')
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const candidate of candidates) {
      if (await crypto.subtle.verify('HMAC', key, candidate, signed)) return true
    }
  }
  return false
}

/** Returns null for a text that is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length)
  all.set(one)
  all.set(other, one.length)
  return all
}
