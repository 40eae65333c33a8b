import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook, WebhookVerificationError } from '../../../packages/sdk/src/index.ts'

const NOW_SECONDS = 1_700_000_000
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_c2VjcmV0LW9mLWFub3RoZXItZW5kcG9pbnQ='
const BODY = '{"type": "post.published", "data": {"postId": "1"}}'

function sign(secret: string, { id = 'evt_1', seconds = NOW_SECONDS, body = BODY } = {}): string {
  return new Webhook(secret).sign(id, new Date(seconds * 1_000), body)
}

function verify({ body = BODY, secret = [SECRET], seconds = NOW_SECONDS, signature = sign(SECRET) } = {}) {
  const headers = { 'Webhook-Id': 'evt_1', 'webhook-timestamp': String(seconds), 'webhook-signature': signature }
  return verifyWebhook({ secret, headers, body, now: NOW_SECONDS * 1_000 })
}

test('verifyWebhook returns the parsed body of a signed request', async () => {
  expect(await verify()).toEqual(JSON.parse(BODY))
})

test('verifyWebhook accepts one matching signature among several, and any secret of a rotation', async () => {
  expect(await verify({ signature: `v1a,abc v1,not-base64! ${sign(OTHER_SECRET)} ${sign(SECRET)}` })).toBeDefined()
  expect(await verify({ signature: sign(OTHER_SECRET), secret: [SECRET, OTHER_SECRET] })).toBeDefined()
})

test('verifyWebhook accepts headers of fetch and a body of bytes', async () => {
  const headers = new Headers({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(NOW_SECONDS),
    'webhook-signature': sign(SECRET),
  })
  const body = new TextEncoder().encode(BODY)
  expect(await verifyWebhook({ secret: SECRET, headers, body, now: NOW_SECONDS * 1_000 })).toEqual(JSON.parse(BODY))
})

test.each([
  ['another body', { body: `${BODY} ` }],
  ['another secret', { secret: [OTHER_SECRET] }],
  ['another time', { seconds: NOW_SECONDS + 1 }],
  ['no signature of version 1', { signature: sign(SECRET).replace('v1,', 'v2,') }],
  ['a truncated signature', { signature: sign(SECRET).slice(0, -8) }],
  ['an old time', { seconds: NOW_SECONDS - 301, signature: sign(SECRET, { seconds: NOW_SECONDS - 301 }) }],
  ['a time in the future', { seconds: NOW_SECONDS + 301, signature: sign(SECRET, { seconds: NOW_SECONDS + 301 }) }],
])('verifyWebhook refuses a request with %s', async (_name, change) => {
  await expect(verify(change)).rejects.toThrow(WebhookVerificationError)
})

test('verifyWebhook accepts a difference of five minutes', async () => {
  const seconds = NOW_SECONDS - 300
  expect(await verify({ seconds, signature: sign(SECRET, { seconds }) })).toBeDefined()
})

test('verifyWebhook refuses a request that lacks a header', async () => {
  await expect(verifyWebhook({ secret: SECRET, headers: {}, body: BODY })).rejects.toThrow('webhook-id')
})
