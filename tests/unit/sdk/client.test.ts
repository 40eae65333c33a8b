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

/** Returns a client, and the method, path and query of its requests. */
function recordCalls() {
  const called = new Set<string>()
  const record: typeof fetch = async (url, init) => {
    const { pathname, search } = url as URL
    called.add(`${init!.method} ${pathname}${search}`)
    return Response.json({ data: {} })
  }
  return { called, client: createClient({ url: 'https://example.test', apiKey: 'key', fetch: record }) }
}

test('there is a method for every change of an account', async () => {
  const { called, client } = recordCalls()
  const { accounts } = client
  await accounts.update('a1', { label: null })
  await accounts.refresh('a1')
  await accounts.disconnect('a1', { movePostsTo: 'a2' })
  await accounts.connectBluesky({ identifier: 'ann.test', appPassword: 'secret' }, { replace: false })
  expect([...called]).toEqual([
    'PATCH /api/platform/accounts/a1',
    'POST /api/platform/accounts/a1/refresh',
    'DELETE /api/platform/accounts/a1?movePostsTo=a2',
    'POST /api/platform/bluesky/connect?replace=false',
  ])
})

test('there is a method for every read of analytics and every action on a post', async () => {
  const wanted = Object.entries(document.paths).flatMap(([path, operations]) =>
    (path.startsWith('/api/analytics/') && 'get' in operations ? ['get'] : [])
      .concat(/^\/api\/posts\/\{postId\}\/\w+$/.test(path) ? Object.keys(operations) : [])
      .map((method) => `${method.toUpperCase()} ${path.replace('{postId}', 'p1')}`),
  )
  const { called, client } = recordCalls()
  const { analytics, posts } = client
  const { download, ...reads } = analytics
  for (const read of Object.values(reads)) await read()
  await download('posts/top', { accounts: ['a1', 'a2'], from: '2027-05-01' })
  expect([...called]).toContain('GET /api/analytics/posts/top?accounts=a1&accounts=a2&from=2027-05-01&format=csv')
  const { cancel, duplicate, retry, status, takeBack, timeline } = posts
  for (const act of [cancel, duplicate, retry, status, takeBack, timeline]) await act('p1')
  await posts.editPublished('p1', { content: { text: 'Edited' } })
  expect(wanted.length).toBeGreaterThan(8)
  expect(wanted.filter((operation) => !called.has(operation))).toEqual([])
})
