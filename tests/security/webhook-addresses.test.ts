import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.ts'
import { createHttpClient } from '../../src/platforms/shared/http.ts'
import type { ResolveName } from '../../src/platforms/shared/public-lookup.ts'
import { createPublicServers } from '../../src/platforms/shared/public-servers.ts'
import { startReceiver, type Receiver } from '../support/webhook-receiver.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver?.stop())

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

async function send(url: string, resolve: ResolveName, allowedPrivate: string[] = []) {
  const { guard, isAllowed } = createPublicServers({ configured: [], allowedPrivate, resolve })
  const http = createHttpClient({ userAgent: 'test', connections: 2, maxResponseBytes: 64, readsExcerpts: true, guard })
  const sender = createWebhookSender({ http, isAllowedOrigin: isAllowed, timeoutMs: 2_000 })
  try {
    const message = { url, id: 'evt_1', body: '{}', secrets: [SECRET], sentAt: new Date() }
    return await sender.send(message, new AbortController().signal)
  } finally {
    await sender.close()
  }
}

it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
  'a public name that resolves to %s is not called',
  async (address) => {
    const resolved: string[] = []
    const answer = await send('https://hooks.example.com/x', async (name) => {
      resolved.push(name)
      return [{ address, family: address.includes(':') ? 6 : 4 }]
    })
    expect(answer).toMatchObject({ status: null, error: 'could not be reached' })
    expect(resolved).toEqual(['hooks.example.com'])
    expect(receiver.requestsTo('/x')).toEqual([])
  },
)

it.each(['\t', '\n', '\r', ' ', '\u0000', '\u2028'])(
  'an address with the character %j is not allowed',
  async (character) => {
    const { isAllowed } = createPublicServers({ configured: [] })
    const http = createHttpClient({ userAgent: 'test', connections: 1 })
    const sender = createWebhookSender({ http, isAllowedOrigin: isAllowed, timeoutMs: 2_000 })
    expect(sender.isAllowed('https://hooks.example.com/x')).toBe(true)
    const places = [
      `${character}https://hooks.example.com/x`,
      `https://hooks.exa${character}mple.com/x`,
      `https://hooks.example.com/x${character}`,
    ]
    expect(places.map(sender.isAllowed)).toEqual([false, false, false])
    await sender.close()
  },
)

it('a URL that is stored from before a stricter setting is not called', async () => {
  const url = `${receiver.origin}/y`
  const resolve: ResolveName = () => Promise.reject(new Error('not asked'))
  expect(await send(url, resolve)).toMatchObject({ status: null, error: 'is not at an allowed address' })
  expect(await send(url, resolve, ['http://127.0.0.1:1'])).toMatchObject({ status: null })
  expect(receiver.requestsTo('/y')).toEqual([])
  expect(await send(url, resolve, ['http://127.0.0.1:*'])).toMatchObject({ status: 204, error: null })
})

it('a redirect is not followed', async () => {
  receiver.respond('/z', (_, response) => void response.writeHead(307, { location: `${receiver.origin}/inner` }).end())
  const answer = await send(`${receiver.origin}/z`, () => Promise.reject(new Error('not asked')), [receiver.origin])
  expect(answer).toMatchObject({ status: 307 })
  expect(receiver.requestsTo('/inner')).toEqual([])
})
