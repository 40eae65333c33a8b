import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { createHttpClient, HttpFailure, type HttpClient, type HttpRequest } from '../../../src/platforms/shared/http.ts'
import { retryAfterMs } from '../../../src/platforms/shared/retry-after.ts'
import { USER_AGENT } from '../../support/user-agent.ts'

let server: Server
let url: URL
let client: HttpClient
let received: string[]
let userAgents: (string | undefined)[]
let answer: (response: ServerResponse) => void

beforeEach(async () => {
  received = []
  userAgents = []
  answer = (response) => response.end('hello')
  server = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`)
    userAgents.push(request.headers['user-agent'])
    request.resume()
    answer(response)
  })
  url = new URL(await listenOnLoopback(server))
  client = createHttpClient({ userAgent: USER_AGENT, connections: 1 })
})

afterEach(async () => {
  await client.close()
  await closeServer(server)
})

const call = (more: Partial<HttpRequest> = {}) =>
  client.send({ method: 'POST', url, body: 'x', signal: new AbortController().signal, ...more })

async function failureOf(work: Promise<unknown>): Promise<HttpFailure> {
  return work.then(
    () => Promise.reject(new Error('It did not fail')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(HttpFailure)
      return error as HttpFailure
    },
  )
}

describe('the HTTP client', () => {
  it('the HTTP client returns status, headers and text of any response', async () => {
    answer = (response) => response.writeHead(404, { 'x-one': 'two' }).end('nö')
    const found = await call()
    expect([found.status, found.header('x-one'), found.header('x-none'), found.text]).toEqual([
      404,
      'two',
      undefined,
      'nö',
    ])
  })

  it('every request names the service, whatever its headers', async () => {
    await call()
    await call({ headers: { 'user-agent': 'another', accept: 'text/plain' } })
    expect(userAgents).toEqual([USER_AGENT, USER_AGENT])
  })

  it('redirects are not followed', async () => {
    answer = (response) => response.writeHead(307, { location: '/elsewhere' }).end()
    expect((await call()).status).toBe(307)
    expect(received).toEqual(['POST /'])
  })

  it('a broken connection after sending is reported as sent', async () => {
    answer = (response) => response.destroy()
    expect(await failureOf(call())).toMatchObject({ sent: true, message: 'closed the connection' })
  })

  it('a request that waited for a connection is reported as not sent', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    answer = arrived.resolve
    const first = call({ timeoutMs: MINUTE })
    const unanswered = await arrived.promise
    expect(await failureOf(call({ timeoutMs: 200 }))).toMatchObject({ sent: false, message: 'did not answer in time' })
    unanswered.end('first')
    expect((await first).text).toBe('first')
    answer = (response) => response.end('next')
    expect((await call({ url: new URL('/next', url) })).text).toBe('next')
    expect(received).toEqual(['POST /', 'POST /next'])
  })

  it.each(['http://127.0.0.1:1', 'http://no-such-host.invalid'])(
    'a request to %s is reported as not sent',
    async (address) => {
      expect(await failureOf(call({ url: new URL(address) }))).toMatchObject({
        sent: false,
        message: 'could not be reached',
      })
    },
  )

  it('the deadline includes reading the response', async () => {
    answer = (response) => void response.write('never finished')
    expect(await failureOf(call({ timeoutMs: 300 }))).toMatchObject({ sent: true, message: 'did not answer in time' })
  })

  it('a response is read up to the limit and no further', async () => {
    answer = (response) => response.end(Buffer.alloc(2 * 1_048_576))
    expect((await call()).text).toHaveLength(2 * 1_048_576)
    answer = (response) => response.end(Buffer.alloc(2 * 1_048_576 + 1))
    expect(await failureOf(call())).toMatchObject({ sent: true, message: 'sent an unreadable response' })
  })

  it.each([
    ['headers without end', (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`)],
    ['no HTTP', (socket: Socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
  ])('a response of %s is not read', async (_, write) => {
    answer = ({ socket }) => write(socket!)
    expect(await failureOf(call())).toMatchObject({ sent: true, message: 'sent an unreadable response' })
  })

  it('a connection that was opened ahead is used', async () => {
    let connections = 0
    server.on('connection', () => (connections += 1))
    client.warm(url)
    await expect.poll(() => connections).toBe(1)
    expect((await call()).text).toBe('hello')
    expect(connections).toBe(1)
  })

  it('only a few connections are opened ahead, however many are requested', async () => {
    let connections = 0
    server.on('connection', () => (connections += 1))
    for (let count = 0; count < 100; count++) client.warm(url)
    await expect.poll(() => connections).toBe(8)
    client.warm(url)
    await delay(50)
    expect(connections).toBe(8)
  })

  it('another connection is opened when the one opened ahead is closed', async () => {
    const opened = once(server, 'connection') as Promise<[Socket]>
    client.warm(url)
    const [socket] = await opened
    socket.destroy()
    await once(socket, 'close')
    // The client is in this process, and sees the end in the next turns of the event loop.
    await delay(50)
    expect((await call()).text).toBe('hello')
  })

  it('a failure to open a connection ahead is ignored', async () => {
    client.warm(new URL('http://127.0.0.1:1'))
    await delay(50)
    expect((await call()).text).toBe('hello')
  })

  it('the client works after failures', async () => {
    answer = (response) => response.destroy()
    for (let failed = 0; failed < 5; failed++) await failureOf(call())
    answer = (response) => response.end('well again')
    expect((await call()).text).toBe('well again')
  })
})

describe('retryAfterMs', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  const seconds = now.getTime() / 1_000
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'ratelimit-reset': String(seconds + 60) }, 60_000],
    [{ 'ratelimit-reset': String(seconds - 60) }, 0],
    [{ 'retry-after': '7', 'ratelimit-reset': String(seconds + 60) }, 7_000],
    [{ 'retry-after': 'soon', 'ratelimit-reset': 'later' }, undefined],
    [{}, undefined],
  ])('the wait of %j is %s', (headers: Record<string, string>, expected) => {
    expect(retryAfterMs({ header: (name) => headers[name] }, now)).toBe(expected)
  })
})
