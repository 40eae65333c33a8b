import { expect, it } from 'vitest'
import { createSigner } from '../../../../src/platforms/tumblr/oauth1.ts'

const sign = createSigner({ token: 'ckey', secret: 'csecret' })
const once = { nonce: 'nonce123', timestamp: 1_700_000_000 }
const token = { token: 'tok', secret: 'toksecret' }

const parseSignature = (header: string) => decodeURIComponent(/oauth_signature="([^"]+)"/.exec(header)![1]!)
const signed = (method: string, url: string, rest: object = {}) =>
  parseSignature(sign({ method, url: new URL(url), ...rest }, once))

it.each([
  [
    'a request for a token',
    'POST',
    'https://www.tumblr.com/oauth/request_token',
    { oauth: { oauth_callback: 'https://app.test/cb?state=u1' } },
    'En/+z2/wM+gVc7VHK1E/Sx+rEeI=',
  ],
  ['a call', 'GET', 'https://api.tumblr.com/v2/user/info', { token }, 'UkJ0uOcUbCK45rj3Th4xwc00oAo='],
  [
    'a call with parameters',
    'GET',
    'https://api.tumblr.com/v2/blog/demo/posts?limit=20&npf=true',
    { token },
    'duMq+OMIErZbqzcZLtVdL5sAhUc=',
  ],
])('the signer creates the expected signature of %s', (_, method, url, rest, signature) => {
  expect(signed(method, url, rest)).toBe(signature)
})

it('the signer creates the signature of RFC 5849 section 3.4.1.1, with repeated parameters in URL and form', () => {
  const rfc = createSigner({ token: '9djdj82h48djs9d2', secret: 'j49sk3j29djd' })
  const request = {
    method: 'POST',
    url: new URL('http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b'),
    fields: { c2: '', a3: '2 q' },
    token: { token: 'kkk9d7dh3k39sjv7', secret: 'dh893hdasih9' },
  }
  // The expected signature is that of the base string in the RFC with `oauth_version` appended.
  expect(parseSignature(rfc(request, { nonce: '7d8f3e4a', timestamp: 137_131_201 }))).toBe(
    'OB33pYjWAnf+xtOHN4Gmbdil168=',
  )
})

it('two signatures of one request differ', () => {
  const request = { method: 'GET', url: new URL('https://api.tumblr.com/v2/user/info'), token }
  expect(sign(request)).not.toBe(sign(request))
})

it('the header contains all OAuth parameters and no secret', () => {
  const header = sign({ method: 'GET', url: new URL('https://api.tumblr.com/v2/user/info'), token }, once)
  expect(header).toMatch(/^OAuth oauth_/)
  for (const part of [
    'oauth_consumer_key="ckey"',
    'oauth_token="tok"',
    'oauth_nonce="nonce123"',
    'oauth_version="1.0"',
  ]) {
    expect(header).toContain(part)
  }
  expect(header).not.toContain('secret')
})
