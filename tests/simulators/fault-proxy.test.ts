import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FaultProxy } from '../../sandbox/platforms/fault-proxy.ts'
import type { LoggedRequest, ProxiedPlatform } from '../../sandbox/platforms/proxied-platform.ts'
import { startFaultProxy } from '../../sandbox/platforms/fault-proxy.ts'
import type { Fault } from '../../sandbox/platforms/faults.ts'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'

interface Arrival {
  method: string
  path: string
  body: string
}

const NAMED = { 'user-agent': 'test' }
const ENTRY = { id: 'at://one/two', account: 'alice', text: 'hello', media: [], createdAt: '2026-01-01T00:00:00.000Z' }

let upstream: Server
let arrivals: Arrival[]
let calls: unknown[]
let proxy: FaultProxy

const platform: ProxiedPlatform = {
  ledger: async () => [ENTRY],
  revoke: async (account) => {
    calls.push(['revoke', account])
    return account === 'alice'
  },
  deletePost: async (id) => {
    calls.push(['delete', id])
    return true
  },
  setPostMetrics: async (id, metrics) => {
    calls.push(['metrics', id, metrics])
    return true
  },
  publishes: (method, path) => method === 'POST' && path.startsWith('/publish'),
  textOf: (body) => body.slice(1, -1),
  refuse: (request) =>
    request.headers.authorization === 'Bearer revoked' ? { status: 401, body: { error: 'gone' } } : undefined,
  accountOf: ({ headers }) => headers.authorization?.replace('Bearer of ', '') ?? null,
}

/** Echoes the request, so that both directions can be compared. */
async function echo(request: IncomingMessage): Promise<string> {
  const body = await text(request)
  arrivals.push({ method: request.method ?? '', path: request.url ?? '', body })
  return JSON.stringify({ body, padding: 'x'.repeat(1_000) })
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    void echo(request).then((answer) => {
      response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
      response.end(answer)
    })
  })
  const target = await listenOnLoopback(upstream)
  proxy = await startFaultProxy({ platform, target: () => target })
})

afterAll(async () => {
  await proxy.stop()
  await closeServer(upstream)
})

beforeEach(async () => {
  arrivals = []
  calls = []
  await fetch(`${proxy.control}/faults`, { method: 'DELETE' })
})

async function addFault(fault: Fault): Promise<void> {
  const response = await fetch(`${proxy.control}/faults`, { method: 'POST', body: JSON.stringify(fault) })
  expect(response.status).toBe(200)
}

async function requests(): Promise<LoggedRequest[]> {
  return (await (await fetch(`${proxy.control}/requests`)).json()) as LoggedRequest[]
}

async function lastRequest(): Promise<LoggedRequest> {
  return (await requests()).at(-1)!
}

function post(path: string, body = 'hi'): Promise<Response> {
  return fetch(`${proxy.url}${path}`, { method: 'POST', body })
}

describe('without faults', () => {
  it('requests and responses pass through the proxy unchanged', async () => {
    const response = await post('/things?a=1&a=2', 'grüße')
    expect(response.status).toBe(201)
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(((await response.json()) as { body: string }).body).toBe('grüße')
    expect(arrivals).toEqual([{ method: 'POST', path: '/things?a=1&a=2', body: 'grüße' }])
    expect(await lastRequest()).toMatchObject({ method: 'POST', path: '/things?a=1&a=2', status: 201 })
  })

  it('a request without a User-Agent is refused before the platform sees it', async () => {
    const answered = Promise.withResolvers<IncomingMessage>()
    sendRequest(`${proxy.url}/nameless`, answered.resolve).end()
    expect((await answered.promise).statusCode).toBe(403)
    expect(arrivals).toEqual([])
    expect(await lastRequest()).toMatchObject({ path: '/nameless', userAgent: null, status: 403 })
  })

  it('the proxy forwards each piece of a body immediately', async () => {
    const firstPiece = Promise.withResolvers<void>()
    const streaming = createServer((request, response) => {
      request.once('data', () => firstPiece.resolve())
      request.on('end', () => response.end('done'))
    })
    const target = await listenOnLoopback(streaming)
    const other = await startFaultProxy({ platform, target: () => target })
    const request = sendRequest(`${other.url}/upload`, { method: 'POST', headers: NAMED })
    const answer = new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
    request.write('first')
    await firstPiece.promise
    request.end('second')
    expect(await text(await answer)).toBe('done')
    await other.stop()
    await closeServer(streaming)
  })

  it('a request is logged when its head arrives, not when its body is complete', async () => {
    const request = sendRequest(`${proxy.url}/slow`, { method: 'POST', headers: { ...NAMED, 'content-length': 4 } })
    const answered = new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
    const before = Date.now()
    request.flushHeaders()
    await expect.poll(async () => (await lastRequest()).path).toBe('/slow')
    const noted = Date.parse((await lastRequest()).receivedAt)
    expect(noted).toBeGreaterThanOrEqual(before)
    expect(await lastRequest()).toMatchObject({ status: null })
    await delay(200)
    request.end('late')
    await text(await answered)
    expect(Date.parse((await lastRequest()).receivedAt)).toBe(noted)
    expect((await lastRequest()).status).toBe(201)
  })

  it('the log keeps the order in which requests arrived', async () => {
    for (const name of ['a', 'b', 'c']) await post(`/${name}`)
    expect((await requests()).slice(-3).map(({ path }) => path)).toEqual(['/a', '/b', '/c'])
  })

  it('the log has the text of a call that makes a post visible, whatever the response', async () => {
    await post('/publish', '"grüße"')
    await addFault({ times: 1, action: { status: 503 } })
    await post('/publish', '"refused"')
    await post('/other', '"secret"')
    expect((await requests()).slice(-3).map((entry) => entry.text)).toEqual(['grüße', 'refused', undefined])
    expect(arrivals.map(({ body }) => body)).toEqual(['"grüße"', '"secret"'])
  })

  it('the proxy closes the connection when the server is unreachable', async () => {
    const other = await startFaultProxy({ platform, target: () => 'http://127.0.0.1:1' })
    await expect(fetch(other.url)).rejects.toThrow('fetch failed')
    await other.stop()
  })

  it("the proxy sends the platform's response for requests that the platform refuses in place of the server", async () => {
    const response = await fetch(proxy.url, { headers: { authorization: 'Bearer revoked' } })
    expect([response.status, await response.json()]).toEqual([401, { error: 'gone' }])
    expect(arrivals).toEqual([])
  })
})

describe('faults', () => {
  it('delayMs delays a request and then forwards it', async () => {
    await addFault({ action: { delayMs: 300 } })
    const before = Date.now()
    const response = await post('/x', 'kept')
    expect(Date.now() - before).toBeGreaterThanOrEqual(299)
    expect(((await response.json()) as { body: string }).body).toBe('kept')
    expect(Date.parse((await lastRequest()).receivedAt) - before).toBeLessThan(200)
  })

  it('delayMs forwards a request even after its client has disconnected', async () => {
    await addFault({ action: { delayMs: 300 } })
    await expect(
      fetch(`${proxy.url}/x`, { method: 'POST', body: 'late', signal: AbortSignal.timeout(100) }),
    ).rejects.toThrow()
    await expect.poll(() => arrivals).toEqual([{ method: 'POST', path: '/x', body: 'late' }])
  })

  it("status, headers and body replace the server's response", async () => {
    await addFault({ action: { status: 429, headers: { 'retry-after': '7' }, body: { error: 'RateLimitExceeded' } } })
    const response = await post('/x')
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await response.json()).toEqual({ error: 'RateLimitExceeded' })
    expect(arrivals).toEqual([])
    expect((await lastRequest()).status).toBe(429)
  })

  it('a text body is sent unchanged', async () => {
    await addFault({ action: { status: 502, body: '<html>' } })
    expect(await (await post('/x')).text()).toBe('<html>')
  })

  it('dropAfterAccept lets the server process the request and withholds the response', async () => {
    await addFault({ action: { dropAfterAccept: true } })
    await expect(post('/x', 'done')).rejects.toThrow('fetch failed')
    expect(arrivals).toEqual([{ method: 'POST', path: '/x', body: 'done' }])
    expect((await lastRequest()).status).toBe(201)
  })

  it('holdAfterAccept lets the server process the request and never responds', async () => {
    await addFault({ action: { holdAfterAccept: true } })
    const gone = new AbortController()
    const answer = fetch(`${proxy.url}/x`, { method: 'POST', body: 'done', signal: gone.signal })
    await expect.poll(() => arrivals).toEqual([{ method: 'POST', path: '/x', body: 'done' }])
    await expect.poll(async () => (await lastRequest()).status).toBe(201)
    expect(await Promise.race([answer.catch(() => 'broken'), delay(200, 'waiting')])).toBe('waiting')
    gone.abort()
    await expect(answer).rejects.toThrow('aborted')
  })

  it('statusAfterAccept lets the server process the request and sends another response', async () => {
    await addFault({ action: { statusAfterAccept: 500, headers: { 'retry-after': '1' }, body: { error: 'Oops' } } })
    const response = await post('/x', 'done')
    expect([response.status, response.headers.get('retry-after')]).toEqual([500, '1'])
    expect(await response.json()).toEqual({ error: 'Oops' })
    expect(arrivals).toEqual([{ method: 'POST', path: '/x', body: 'done' }])
    expect((await lastRequest()).status).toBe(201)
  })

  it.each([true, 10])('truncate %s ends the response early', async (truncate) => {
    await addFault({ action: { truncate } })
    const response = await post('/x')
    expect(response.status).toBe(201)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(arrivals).toHaveLength(1)
  })

  it('truncate sends exactly the given number of bytes', async () => {
    await addFault({ action: { truncate: 10 } })
    const reader = (await post('/x')).body!.getReader()
    const first = await reader.read()
    expect(new TextDecoder().decode(first.value)).toBe('{"body":"h')
    await expect(reader.read()).rejects.toThrow('terminated')
  })

  it('trickleBytesPerSecond sends the whole response slowly', async () => {
    await addFault({ action: { trickleBytesPerSecond: 2_000 } })
    const before = Date.now()
    const response = await post('/x')
    expect(Date.now() - before).toBeLessThan(300)
    expect(((await response.json()) as { body: string }).body).toBe('hi')
    expect(Date.now() - before).toBeGreaterThan(400)
  })

  it('hang never responds, and the server receives nothing', async () => {
    await addFault({ action: { hang: true } })
    await expect(fetch(`${proxy.url}/x`, { signal: AbortSignal.timeout(300) })).rejects.toThrow('timeout')
    expect(arrivals).toEqual([])
    expect((await lastRequest()).status).toBeNull()
  })

  it('cut closes the connection, and the server receives nothing', async () => {
    await addFault({ action: { cut: true } })
    await expect(post('/x')).rejects.toThrow('fetch failed')
    expect(arrivals).toEqual([])
    expect((await lastRequest()).status).toBeNull()
  })

  it('times limits the number of affected requests', async () => {
    await addFault({ times: 2, action: { status: 503 } })
    expect(await statuses(3, '/x')).toEqual([503, 503, 201])
  })

  it('a fault without times affects every request until it is cleared', async () => {
    await addFault({ action: { status: 503 } })
    expect(await statuses(3, '/x')).toEqual([503, 503, 503])
    await fetch(`${proxy.control}/faults`, { method: 'DELETE' })
    expect(await statuses(1, '/x')).toEqual([201])
  })

  it('method and path select the requests', async () => {
    await addFault({ method: 'post', path: 'putRecord', action: { status: 500 } })
    expect((await post('/xrpc/com.atproto.repo.getRecord')).status).toBe(201)
    expect((await fetch(`${proxy.url}/xrpc/com.atproto.repo.putRecord`)).status).toBe(201)
    expect((await post('/xrpc/com.atproto.repo.putRecord')).status).toBe(500)
  })

  it('account selects requests by the owner of their token', async () => {
    await addFault({ account: 'bob', action: { status: 500 } })
    const as = async (authorization?: string) =>
      (await fetch(`${proxy.url}/x`, authorization ? { headers: { authorization } } : {})).status
    expect([await as(), await as('Bearer of ann'), await as('Bearer of bob')]).toEqual([201, 201, 500])
    expect((await requests()).slice(-3).map(({ account }) => account)).toEqual([null, 'ann', 'bob'])
  })

  it.each(['body', 'gzip'] as const)('flood sends a %s of 1 GiB as long as it is read', async (flood) => {
    await addFault({ action: { flood } })
    const reader = (await post('/x')).body!.getReader()
    let read = 0
    while (read < 32 * 1_048_576) read += (await reader.read()).value!.length
    await reader.cancel()
    expect(arrivals).toEqual([])
  })

  it('flood sends endless headers', async () => {
    await addFault({ action: { flood: 'headers' } })
    await expect(post('/x')).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_OVERFLOW' } })
    expect(arrivals).toEqual([])
  })

  it('the oldest matching fault applies to a request', async () => {
    await addFault({ times: 1, action: { status: 500 } })
    await addFault({ times: 1, action: { status: 501 } })
    expect(await statuses(3, '/x')).toEqual([500, 501, 201])
  })

  it.each([
    {},
    { action: {} },
    { action: { explode: true } },
    { action: { status: 99 } },
    { times: 0, action: { status: 500 } },
  ])('the control interface refuses the fault %j', async (fault) => {
    const response = await fetch(`${proxy.control}/faults`, { method: 'POST', body: JSON.stringify(fault) })
    expect(response.status).toBe(400)
    expect(await statuses(1, '/x')).toEqual([201])
  })

  async function statuses(count: number, path: string): Promise<number[]> {
    const found: number[] = []
    for (let sent = 0; sent < count; sent++) found.push((await post(path)).status)
    return found
  }
})

describe('control', () => {
  it("the ledger is the platform's own", async () => {
    expect(await (await fetch(`${proxy.control}/ledger`)).json()).toEqual([ENTRY])
  })

  it.each(['at://did:plc:x/app.bsky.feed.post/1', encodeURIComponent('at://did:plc:x/app.bsky.feed.post/1')])(
    'the post id %s is accepted',
    async (id) => {
      expect((await fetch(`${proxy.control}/posts/${id}/delete`, { method: 'POST' })).status).toBe(200)
      expect(calls).toEqual([['delete', 'at://did:plc:x/app.bsky.feed.post/1']])
    },
  )

  it('metrics can be set, and invalid ones are refused', async () => {
    const set = (body: unknown) =>
      fetch(`${proxy.control}/posts/1/metrics`, { method: 'POST', body: JSON.stringify(body) }).then(
        ({ status }) => status,
      )
    expect(await set({ likes: 3 })).toBe(200)
    expect(await set({ likes: 'many' })).toBe(400)
    expect(calls).toEqual([['metrics', '1', { likes: 3 }]])
  })

  it('an unknown account or post is reported as not found', async () => {
    const status = async (path: string) => (await fetch(`${proxy.control}${path}`, { method: 'POST' })).status
    expect(await status('/accounts/alice/revoke')).toBe(200)
    expect(await status('/accounts/nobody/revoke')).toBe(404)
    expect(await status('/accounts/alice/metrics')).toBe(404)
    expect(await status('/unknown')).toBe(404)
  })
})
