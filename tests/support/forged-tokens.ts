import { createHmac, randomBytes } from 'node:crypto'

export interface Forgery {
  header?: object
  /** The fields of an object replace those of the token. Any other value replaces the whole payload. */
  payload?: unknown
  secret?: string
  hash?: string
  signature?: string
}

/** Changes a token and signs it again, with the service's own key unless the forgery has another. */
export function forge(token: string, jwtSecret: string, { header, payload, secret, hash, signature }: Forgery): string {
  const [ownHeader, ownPayload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object)
  const isChange = payload === undefined || (typeof payload === 'object' && payload !== null && !Array.isArray(payload))
  const input = [{ ...ownHeader, ...header }, isChange ? { ...ownPayload, ...(payload as object) } : payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = secret ?? jwtSecret
  return `${input}.${
    signature ??
    createHmac(hash ?? 'sha256', key)
      .update(input)
      .digest('base64url')
  }`
}

const nowInSeconds = () => Math.floor(Date.now() / 1_000)

/** The forgeries, each with the fault of the resulting token. */
export const FORGERIES: [string, Forgery][] = [
  ['another key', { secret: randomBytes(32).toString('base64') }],
  ['an empty key', { secret: '' }],
  ['no signature', { signature: '' }],
  ['another type', { header: { typ: 'JWT' } }],
  ['no type', { header: { typ: undefined } }],
  ['no algorithm', { header: { alg: 'none' }, signature: '' }],
  ['no algorithm, in capitals', { header: { alg: 'NONE' }, signature: '' }],
  ['another algorithm', { header: { alg: 'HS512' }, hash: 'sha512' }],
  ['the algorithm of public keys', { header: { alg: 'RS256' } }],
  ['a key of its own in the header', { header: { jwk: { kty: 'oct', k: 'AAAA' } }, secret: '\0\0\0' }],
  ['the id of a file as key', { header: { kid: '../../../../dev/null' }, secret: '' }],
  ['the id of a query as key', { header: { kid: "' OR 1=1 --" }, secret: '1' }],
  ['the address of a key', { header: { jku: 'http://elsewhere.test/keys', kid: 'mine' }, secret: 'mine' }],
  ['another issuer', { payload: { iss: 'http://elsewhere.test' } }],
  ['another audience', { payload: { aud: 'http://elsewhere.test' } }],
  ['no end', { payload: { exp: undefined } }],
  ['an end that is no number', { payload: { exp: 'never' } }],
  ['an end that has passed', { payload: { exp: nowInSeconds() - 60 } }],
  ['no id', { payload: { jti: undefined } }],
  ['no session', { payload: { sid: undefined } }],
  ['an unknown session', { payload: { sid: '0'.repeat(24) } }],
  ['an unknown user', { payload: { sub: '0'.repeat(24) } }],
  ['a user that is a query', { payload: { sub: { $ne: null } } }],
  ['a session that is a query', { payload: { sid: { $ne: null } } }],
  ['an older version', { payload: { ver: -1 } }],
  ['a version that is a query', { payload: { ver: { $gte: 0 } } }],
  ['a list in place of claims', { payload: [] }],
  ['a list with claims', { payload: [{ sub: 'someone' }] }],
  ['a word in place of claims', { payload: 'admin' }],
  ['nothing in place of claims', { payload: null }],
]
