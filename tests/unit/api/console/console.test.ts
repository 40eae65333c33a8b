import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consolePages, type ConsoleOptions } from '../../../../src/api/console/console.ts'
import { browserSecurity } from '../../../../src/api/plugins/browser-security.ts'
import { rateLimits } from '../../../../src/api/plugins/rate-limits.ts'
import { routing } from '../../../../src/api/plugins/routing.ts'
import { installErrorHandling, sendFrameworkError } from '../../../../src/api/shared/errors.ts'
import type { Config } from '../../../../src/config/schema.ts'

const SCRIPT = 'export const built = true\n'.repeat(100)
const PAGE = `<!doctype html>
<html>
  <head>
    <meta name="viewport" content="width=device-width" />
    <meta name="api" content="" />
    <meta name="csp-nonce" content="" />
    <script type="module" crossorigin src="/assets/index-1a2B.js"></script>
  </head>
</html>`
const SECRET = 'outside of what is served'

interface Response {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Sends the path as it is written, which `fetch` would normalise. */
function send(url: string, path: string, { method = 'GET', headers = {} } = {}): Promise<Response> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

const home = mkdtempSync(join(tmpdir(), 'postonce-console-'))
const folder = join(home, 'dist')

function writeFolder(): void {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  mkdirSync(join(folder, '.vite'))
  writeFileSync(join(folder, 'index.html'), PAGE)
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(folder, 'assets', 'index-1a2B.js'), SCRIPT)
  writeFileSync(join(folder, 'assets', 'index-1a2B.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(folder, '.vite', 'manifest.json'), SECRET)
  writeFileSync(join(folder, '.hidden'), SECRET)
  writeFileSync(join(home, 'secret.txt'), SECRET)
}

/** Serves the console beside a few routes, with the plugins of the API that decide about paths, headers and limits. */
async function startServer(options: Partial<ConsoleOptions> = {}, perMinute = 1_000) {
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true }, frameworkErrors: sendFrameworkError })
  const config = {
    FRONTEND_URL: 'http://localhost:3000',
    CORS_ORIGINS: '',
    RATE_LIMIT_PER_ADDRESS: perMinute,
    RATE_LIMIT_PER_USER: perMinute,
  } as Config
  installErrorHandling(app)
  await app.register(routing)
  await app.register(browserSecurity, { config })
  await app.register(rateLimits, { config })
  app.get('/health/live', async () => 'alive')
  app.get('/docs/static/:file', async () => 'reference')
  app.get('/api/posts', async () => 'posts')
  app.post('/api/posts/:id/retry', async () => 'retried')
  app.post('/socket.io/', async () => 'polled')
  await app.register(consolePages, {
    folder,
    isOwnOrigin: true,
    apiUrl: 'https://api.example.test/',
    storageUrls: [
      'https://storage.example.test',
      'https://storage.example.test/postonce',
      'http://cdn.example.test:81',
    ],
    ...options,
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    get: (path: string, headers: Record<string, string> = {}) => send(url, path, { headers }),
    head: (path: string) => send(url, path, { method: 'HEAD' }),
    send: (method: string, path: string) => send(url, path, { method }),
    close: () => app.close(),
  }
}

type Server = Awaited<ReturnType<typeof startServer>>

const isPage = ({ status, body }: Response) => status === 200 && body.includes('<meta name="csp-nonce"')
const codeOf = ({ body }: Response) => (JSON.parse(body) as { code: string }).code
const nonceOf = ({ body }: Response) => /<meta name="csp-nonce" content="([^"]*)"/.exec(body)?.[1]

let server: Server
beforeAll(async () => {
  writeFolder()
  server = await startServer()
})
afterAll(async () => {
  await server.close()
  rmSync(home, { recursive: true })
})

describe('the page of the console', () => {
  it.each([
    '/',
    '/login',
    '/payment/success?session_id=1',
    '/posts/1/',
    '/apis',
    '/.env',
    '/a%2Fb',
    '//',
    '/index.html',
  ])('the console serves its page at %s', async (path) => {
    const response = await server.get(path)
    expect(isPage(response)).toBe(true)
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  it('each response has a new nonce, in its policy and in its page', async () => {
    const responses = [await server.get('/'), await server.get('/')]
    const nonces = responses.map(nonceOf)
    expect(new Set(nonces).size).toBe(2)
    for (const [index, { headers }] of responses.entries()) {
      expect(nonces[index]).toMatch(/^[\w+/]{22}==$/)
      expect(headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonces[index]}'`)
    }
  })

  it('the policy of the page allows its own files, the API and the storage alone', async () => {
    const { headers, body } = await server.get('/')
    expect(
      headers['content-security-policy']
        ?.toString()
        .replace(/nonce-[^']+/, 'nonce-…')
        .split('; '),
    ).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'nonce-…'",
      "img-src 'self' data: blob: https://storage.example.test http://cdn.example.test:81",
      "media-src 'self' data: blob: https://storage.example.test http://cdn.example.test:81",
      "connect-src 'self' https://api.example.test wss://api.example.test https://storage.example.test http://cdn.example.test:81",
      "font-src 'self'",
      "manifest-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
    expect(body).toContain('<meta name="api" content="" />')
    expect(body).toContain('content="width=device-width"')
  })

  it('a page of another origin than the API has the address of the API', async () => {
    const other = await startServer({ isOwnOrigin: false, apiUrl: 'http://localhost:4000/?a="b' })
    const { body } = await other.get('/')
    expect(body).toContain('<meta name="api" content="http://localhost:4000/?a=&quot;b" />')
    await other.close()
  })

  it('HEAD responds with the headers of the page and no body', async () => {
    const { status, headers, body } = await server.head('/login')
    expect([status, body]).toEqual([200, ''])
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    expect(Number(headers['content-length'])).toBeGreaterThan(PAGE.length)
  })
})

describe('the paths of the API beside the console', () => {
  it.each([
    ...['/api', '/api/', '/api/unknown', '//api/unknown', '/%61pi/unknown', '/api%2Funknown', '/api/posts/1'],
    ...['/health', '/health/unknown', '/docs/unknown', '/socket.io/unknown', '/metrics', '/metrics/cadvisor'],
    ...['/assets', '/assets/', '/icon.svg/more'],
  ])('the unknown path %s gets the error of the API', async (path) => {
    const response = await server.get(path)
    expect([response.status, codeOf(response)]).toEqual([404, 'NOT_FOUND'])
    expect(response.headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
  })

  it('routes of the API respond as without the console', async () => {
    expect(await server.get('/api/posts')).toMatchObject({ status: 200, body: 'posts' })
    expect(await server.get('/health/live')).toMatchObject({ status: 200, body: 'alive' })
  })

  it('a path of the API with another method gets 405 with the allowed methods', async () => {
    const response = await server.get('/api/posts/1/retry')
    expect([response.status, codeOf(response)]).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(response.headers.allow).toBe('POST')
  })

  it.each(['POST', 'PUT', 'DELETE'])('%s of a page or a file is not found', async (method) => {
    expect((await server.send(method, '/login')).status).toBe(404)
    expect((await server.send(method, '/assets/index-1a2B.js')).status).toBe(404)
  })

  it('a path that cannot be decoded is refused', async () => {
    const response = await server.get('/%zz')
    expect([response.status, codeOf(response)]).toEqual([400, 'BAD_REQUEST'])
  })
})

describe('the files of the console', () => {
  it('a file with a hash in its name may be cached permanently', async () => {
    const { status, headers, body } = await server.get('/assets/index-1a2B.js')
    expect([status, body]).toEqual([200, SCRIPT])
    expect(headers).toMatchObject({
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      vary: expect.stringContaining('accept-encoding'),
    })
  })

  it('the icon is validated again before each use', async () => {
    const { status, headers } = await server.get('/icon.svg')
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/svg+xml',
      'public, max-age=0',
    ])
    expect((await server.get('/icon.svg', { 'if-none-match': headers.etag! })).status).toBe(304)
  })

  it('a client that accepts gzip gets the compressed file', async () => {
    const { headers } = await server.get('/assets/index-1a2B.js', { 'accept-encoding': 'gzip, br' })
    expect(headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'application/javascript; charset=utf-8',
      'content-length': String(gzipSync(SCRIPT).length),
    })
  })

  it.each(['bytes=0-5', 'bytes=999999-', 'bytes=0-1,2-3'])('a range is ignored: %s', async (range) => {
    expect(await server.get('/assets/index-1a2B.js', { range })).toMatchObject({ status: 200, body: SCRIPT })
  })

  it('HEAD responds with the size of a file and no body', async () => {
    const { status, headers, body } = await server.head('/assets/index-1a2B.js')
    expect([status, headers['content-length'], body]).toEqual([200, String(SCRIPT.length), ''])
  })

  it.each([
    ...[
      '/assets/missing.js',
      '/assets/..',
      '/assets/../index.html',
      '/assets/%2e%2e/index.html',
      '/assets/..%2findex.html',
    ],
    ...['/assets/..%2f..%2fsecret.txt', '/assets/%2e%2e%2f%2e%2e%2fsecret.txt', '/assets/..%5c..%5csecret.txt'],
    ...['/assets/..%252f..%252fsecret.txt', '/assets/%00', '/assets/index-1a2B.js%00.png', '/assets/.hidden'],
    ...['/assets//index-1a2B.js', '/assets/./index-1a2B.js', '/assets/%2Fetc%2Fpasswd', '/assets/~root'],
  ])('%s is not a file of the console', async (path) => {
    const response = await server.get(path)
    expect(response.body).not.toContain(SECRET)
    expect([response.status, codeOf(response)]).toEqual([404, 'NOT_FOUND'])
  })

  it.each([
    ...['/../secret.txt', '/..%2fsecret.txt', '/%2e%2e/secret.txt', '/..%5csecret.txt', '/.hidden'],
    ...['/.vite/manifest.json', '/%2evite%2fmanifest.json', '/icon.svg/../../secret.txt'],
  ])('no path leads to a file that is not meant for browsers: %s', async (path) => {
    expect((await server.get(path)).body).not.toContain(SECRET)
  })
})

describe('the limits of the console', () => {
  it('files have a limit of their own, and pages count as requests of the address', async () => {
    const limited = await startServer({}, 2)
    const statuses = async (path: string) => [(await limited.get(path)).status, (await limited.get(path)).status]
    expect(await statuses('/assets/index-1a2B.js')).toEqual([200, 200])
    expect((await limited.get('/icon.svg')).status).toBe(429)
    expect(await statuses('/')).toEqual([200, 200])
    expect((await limited.get('/api/posts')).status).toBe(429)
    await limited.close()
  })
})

it('a folder without a page is refused at start, with the next step', async () => {
  await expect(startServer({ folder: home })).rejects.toThrow(
    /^CONSOLE is on, but .*index\.html is missing\. Build the console with "npm run build --workspace packages\/console"/,
  )
})
