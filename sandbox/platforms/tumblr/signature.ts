import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Parses the parameters of `Authorization: OAuth ...` (RFC 5849 section 3.5.1); null for another scheme or an invalid
 * header.
 */
export function readOAuthHeader(header: string | undefined): Map<string, string> | null {
  const [, list] = /^OAuth\s+(.+)$/i.exec(header ?? '') ?? []
  if (list === undefined) return null
  const parameters = new Map<string, string>()
  for (const part of list.split(/\s*,\s*/)) {
    const [, name, value] = /^([\w.~%-]+)="([^"]*)"$/.exec(part) ?? []
    if (name === undefined || value === undefined || parameters.has(name)) return null
    parameters.set(decodeURIComponent(name), decodeURIComponent(value))
  }
  return parameters
}

interface Signed {
  method: string
  url: URL
  oauth: Map<string, string>
  /** The fields of a form-encoded body. */
  fields: [name: string, value: string][]
  consumerSecret: string
  tokenSecret: string
}

/**
 * Returns whether the request was signed with these secrets, for this method, URL and parameters (RFC 5849 section
 * 3.4).
 */
export function isSignedRightly({ method, url, oauth, fields, consumerSecret, tokenSecret }: Signed): boolean {
  const pairs = [...url.searchParams, ...fields, ...oauth]
    .filter(([name]) => name !== 'oauth_signature' && name !== 'realm')
    .map(([name, value]): [string, string] => [percent(name), percent(value)])
  pairs.sort(
    ([a, x], [b, y]) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)) || Buffer.compare(Buffer.from(x), Buffer.from(y)),
  )
  const normal = pairs.map(([name, value]) => `${name}=${value}`).join('&')
  const base = `${method}&${percent(url.origin + url.pathname)}&${percent(normal)}`
  const right = createHmac('sha1', `${percent(consumerSecret)}&${percent(tokenSecret)}`)
    .update(base)
    .digest()
  const given = Buffer.from(oauth.get('oauth_signature') ?? '', 'base64')
  return given.length === right.length && timingSafeEqual(given, right)
}

/** Encodes all bytes but letters, digits and four signs (RFC 5849 section 3.6). */
function percent(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
