import { expect, test } from 'vitest'
import document from '../../../docs/openapi.json' with { type: 'json' }
import { createClient, logIn } from '../../../packages/sdk/src/index.ts'

test.each([
  'postonce.example.com',
  'localhost:4000',
  '//postonce.example.com',
  'ftp://postonce.example.com',
  'https://',
  '',
])('the address %j is refused immediately, not by every request', async (url) => {
  expect(() => createClient({ url, apiKey: 'key' })).toThrow('is not the address of a service')
  await expect(logIn({ url, email: 'ann@example.test', password: 'secret' })).rejects.toThrow(TypeError)
})

test.each(['https://postonce.example.com', 'http://localhost:4000/', 'HTTPS://EXAMPLE.COM'])(
  'the address %s is accepted',
  (url) => {
    expect(() => createClient({ url, apiKey: 'key' })).not.toThrow()
  },
)

test('there is a method for every read of analytics and every action on a post', async () => {
  const wanted = Object.entries(document.paths).flatMap(([path, operations]) =>
    (path.startsWith('/api/analytics/') && 'get' in operations ? ['get'] : [])
      .concat(/^\/api\/posts\/\{postId\}\/\w+$/.test(path) ? Object.keys(operations) : [])
      .map((method) => `${method.toUpperCase()} ${path.replace('{postId}', 'p1')}`),
  )
  const called = new Set<string>()
  const record: typeof fetch = async (url, init) => {
    called.add(`${init!.method} ${(url as URL).pathname}`)
    return Response.json({ data: {} })
  }
  const { analytics, posts } = createClient({ url: 'https://example.test', apiKey: 'key', fetch: record })
  for (const read of Object.values(analytics)) await read()
  const { cancel, duplicate, retry, status, timeline } = posts
  for (const act of [cancel, duplicate, retry, status, timeline]) await act('p1')
  expect(wanted.length).toBeGreaterThan(8)
  expect(wanted.filter((operation) => !called.has(operation))).toEqual([])
})
