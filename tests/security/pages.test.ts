import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { PageUnavailableError } from '../../src/domain/posts/link.ts'
import { createPages } from '../../src/integrations/pages/pages.ts'
import { createHttpClient } from '../../src/platforms/shared/http.ts'
import type { ResolveName } from '../../src/platforms/shared/public-lookup.ts'
import { createPublicServers } from '../../src/platforms/shared/public-servers.ts'
import { USER_AGENT } from '../support/user-agent.ts'

/** Pages and images of servers that users name: wrong, endless, private and hostile ones. */

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const HTML = { 'content-type': 'text/html' }
const MIB = 1_048_576

/** A server that users may name here, and one on the private network that nothing may call. */
let named: { server: ReturnType<typeof createServer>; url: string }
let internal: typeof named
let internalCalls = 0
let answers = new Map<string, Answer>()
/** Bytes that the named server could send of an endless answer. */
let sentBytes = 0

beforeAll(async () => {
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    answers.get(request.url!)!(response, request)
  })
  named = { server, url: await listenOnLoopback(server) }
  const privateServer = createServer((_, response) => {
    internalCalls += 1
    response.end('<title>Private</title>')
  })
  internal = { server: privateServer, url: await listenOnLoopback(privateServer) }
})
beforeEach(() => {
  answers = new Map()
  sentBytes = 0
})
afterAll(async () => {
  await closeServer(named.server)
  await closeServer(internal.server)
  if (internalCalls > 0) throw new Error('The private server got a call')
})

async function withPages<T>(
  work: (pages: ReturnType<typeof createPages>) => Promise<T>,
  resolve?: ResolveName,
): Promise<T> {
  const { guard, isAllowed } = createPublicServers({
    ...{ configured: [], allowedPrivate: [named.url], ...(resolve && { resolve }) },
  })
  const http = createHttpClient({ userAgent: USER_AGENT, connections: 4, readsExcerpts: true, guard })
  const pages = createPages({ http, isAllowedOrigin: isAllowed })
  try {
    return await work(pages)
  } finally {
    await pages.close()
  }
}

const reading = (userId = 'ann') => ({ userId, signal: AbortSignal.timeout(20_000) })

const describeAt = (url: string, resolve?: ResolveName) => withPages((pages) => pages.describe(url, reading()), resolve)

function serve(path: string, answer: Answer): string {
  answers.set(path, answer)
  return `${named.url}${path}`
}

const page = (body: string | Buffer, headers: Record<string, string> = HTML) =>
  serve('/page', (response) => response.writeHead(200, headers).end(body))

/** Sends pieces without end, and counts what could be sent. */
function endless(piece: string | Buffer, headers: Record<string, string> = HTML): Answer {
  return (response) => {
    response.writeHead(200, headers)
    const write = () => {
      while (!response.destroyed && response.write(piece)) sentBytes += piece.length
    }
    response.on('drain', write)
    write()
  }
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('It did not fail'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof PageUnavailableError) return error.message
  throw error
}

describe('what a page says about itself', () => {
  it.each([
    [
      'Open Graph first',
      '<title>A</title><meta property="og:title" content="B"><meta name="twitter:title" content="C">',
      'B',
    ],
    ['a Twitter card before the title', '<title>A</title><meta name="twitter:title" content="C">', 'C'],
    ['the title', '<html><head><title> A \n b </title></head>', 'A b'],
    ['the title outside of a head', '<p>x</p><title>A</title>', 'A'],
    ['an empty title of Open Graph', '<meta property="og:title" content=" "><title>A</title>', 'A'],
    ['references to characters', '<meta property="og:title" content="A &amp; B &#x1F600;">', 'A & B 😀'],
    ['a title that is cut off', '<title>A', 'A'],
  ])('the title is read from %s', async (_, head, title) => {
    expect(await describeAt(page(head))).toMatchObject({ title })
  })

  it('a page has a description and the address of an image, which may be relative', async () => {
    const head =
      '<meta name=description content="plain"><meta property="og:title" content="T">' +
      '<meta property="og:description" content="og"><meta property="og:image" content="/a.png?x=1&amp;y">'
    const url = page(head)
    const imageUrl = `${named.url}/a.png?x=1&y`
    expect(await describeAt(url)).toEqual({ url, title: 'T', description: 'og', imageUrl })
  })

  it.each([
    'javascript:alert(1)',
    'data:image/png;base64,AAAA',
    'file:///etc/passwd',
    'https://a:b@example.com/x.png',
    '',
  ])('an image at the address %j is left out', async (address) => {
    const head = `<title>T</title><meta property="og:image" content="${address}">`
    expect(await describeAt(page(head))).toMatchObject({ title: 'T', imageUrl: null })
  })

  it('scripts and markup in a title are text, and scripts of the page are not run', async () => {
    const head =
      '<script>document.title = "<title>no</title>"</script><!-- <title>no</title> -->' +
      '<title><script>alert(1)</script></title><meta property="og:description" content="&lt;img src=x onerror=alert(1)&gt;">'
    expect(await describeAt(page(head))).toMatchObject({
      title: '<script>alert(1)</script>',
      description: '<img src=x onerror=alert(1)>',
    })
  })

  it('control characters and changes of direction are removed, and long texts are cut', async () => {
    const head = `<meta property="og:title" content="a\u202eb\u2066c\u0007\n\td"><meta property="og:description" content="${'x'.repeat(MIB / 2)}">`
    const { title, description } = await describeAt(page(head))
    expect(title).toBe('abc d')
    expect(description).toHaveLength(1_000)
  })

  it('what follows the head is not read', async () => {
    const head = `<html><head><title>T</title>${' '.repeat(1_024)}</head>`
    const url = serve('/page', (response) => void response.writeHead(200, HTML).write(head))
    expect(await describeAt(url)).toMatchObject({ title: 'T' })
  })
})

describe('encodings', () => {
  const japanese = Buffer.from([0x93, 0xfa, 0x96, 0x7b])
  const titled = (name: Uint8Array, declaration = '') =>
    Buffer.concat([Buffer.from(`<html><head>${declaration}<title>`), name, Buffer.from('</title></head>')])
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')

  it.each([
    ['Shift_JIS in the header', titled(japanese), 'text/html; charset=Shift_JIS', '日本'],
    ['Shift_JIS in the page', titled(japanese, '<meta charset="shift_jis">'), 'text/html', '日本'],
    [
      'Shift_JIS in a header of the page',
      titled(japanese, '<meta http-equiv="Content-Type" content="text/html; charset=x-sjis">'),
      'text/html',
      '日本',
    ],
    ['windows-1252 in the header', titled(Buffer.from([0x80, 0xe9])), 'text/html;charset="windows-1252"', '€é'],
    ['windows-1252 nowhere', titled(Buffer.from([0x80, 0xe9])), 'text/html', '€é'],
    ['UTF-8 nowhere', titled(Buffer.from('né 😀')), 'text/html', 'né 😀'],
    ['an unknown encoding', titled(Buffer.from('né')), 'text/html; charset=nothing', 'né'],
    ['UTF-16 with a mark', utf16('\ufeff<title>né</title>'), 'text/html', 'né'],
    ['UTF-16 without a mark', utf16('<title>né</title>'), 'text/html', 'né'],
    ['UTF-16 in the header', utf16(' <title>né</title>'), 'text/html; charset=utf-16le', 'né'],
    ['big-endian UTF-16', utf16('\ufeff<title>né</title>').swap16(), 'text/html', 'né'],
    ['UTF-16 declared in ASCII', titled(Buffer.from('né'), '<meta charset=utf-16>'), 'text/html', 'né'],
  ])('a page with %s is read', async (_, body, type, title) => {
    expect(await describeAt(page(body, { 'content-type': type }))).toMatchObject({ title })
  })

  it('a character that arrives in two pieces is read whole', async () => {
    const bytes = titled(japanese, `<meta charset=shift_jis>${' '.repeat(1_100)}`)
    const cut = bytes.indexOf(japanese) + 1
    const url = serve('/page', (response) => {
      response.writeHead(200, HTML).write(bytes.subarray(0, cut), () => response.end(bytes.subarray(cut)))
    })
    expect(await describeAt(url)).toMatchObject({ title: '日本' })
  })
})

describe('pages that are none', () => {
  it.each([
    ['a picture', 'x', { 'content-type': 'image/png' }, 'is no web page'],
    ['a page whose type lies', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), HTML, 'has no title'],
    ['an empty page', '', HTML, 'has no title'],
    ['a compressed page', 'x', { ...HTML, 'content-encoding': 'gzip' }, 'sent an unreadable response'],
  ])('%s has no card', async (_, body, headers: Record<string, string>, problem) => {
    expect(await problemOf(describeAt(page(body, headers)))).toBe(problem)
  })

  it('an error page has no card', async () => {
    const url = serve('/page', (response) => response.writeHead(404, HTML).end('<title>Not found</title>'))
    expect(await problemOf(describeAt(url))).toBe('answered with the status 404')
  })

  it('a page that breaks off has no card', async () => {
    const url = serve('/page', (response) => {
      response.writeHead(200, { ...HTML, 'content-length': '1000' }).write('<title>T', () => response.destroy())
    })
    expect(await problemOf(describeAt(url))).toBe('closed the connection')
  })

  it.each([
    ['hangs before its headers', () => undefined],
    ['hangs in its head', (response: ServerResponse) => void response.writeHead(200, HTML).write('<title>T</title>')],
    [
      'trickles',
      (response: ServerResponse) => {
        response.writeHead(200, HTML)
        const timer = setInterval(() => response.write('<'), 100)
        response.on('close', () => clearInterval(timer))
      },
    ],
  ])('a page that %s is given up after five seconds', async (_, answer: Answer) => {
    const startedAt = performance.now()
    expect(await problemOf(describeAt(serve('/page', answer)))).toBe('did not answer in time')
    expect(performance.now() - startedAt).toBeGreaterThan(4_000)
    expect(performance.now() - startedAt).toBeLessThan(9_000)
  })

  it.each([
    ['text', 'a'.repeat(65_536)],
    ['a title', `<title>${'a'.repeat(65_536)}`],
    ['an attribute', `<meta content="${'a'.repeat(65_536)}`],
    ['a comment', `<!--${'-'.repeat(65_536)}`],
    ['elements', '<p>'.repeat(20_000)],
    ['attributes', `<p ${'a '.repeat(30_000)}`],
  ])('at most a megabyte is read of a page that has %s without end', async (_, piece) => {
    await describeAt(serve('/page', endless(piece))).catch((error: Error) => {
      expect(error).toBeInstanceOf(PageUnavailableError)
    })
    // What the buffers of both sockets hold is sent as well.
    expect(sentBytes).toBeLessThan(16 * MIB)
  })

  it('a page that announces 10 GB is read up to its head', async () => {
    const url = serve('/page', endless('<title>T</title></head>', { ...HTML, 'content-length': '10000000000' }))
    expect(await describeAt(url)).toMatchObject({ title: 'T' })
    expect(sentBytes).toBeLessThan(16 * MIB)
  })
})

describe('addresses', () => {
  const PRIVATE = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1']

  it.each([
    'https://127.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://localhost/',
    'https://printer.local/',
    'https://example.com:8443/',
    'https://user:password@example.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
    'nothing',
  ])('the address %s is not read', async (address) => {
    const resolve: ResolveName = () => Promise.reject(new Error('not resolved'))
    expect(await problemOf(describeAt(address, resolve))).toBe('is not at a public address')
  })

  it.each(PRIVATE)('a public name that resolves to %s is not read', async (address) => {
    const resolve: ResolveName = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
    expect(await problemOf(describeAt('https://pages.example.com/', resolve))).toBe('could not be reached')
  })

  it.each([
    ['a private server', () => internal.url],
    ['an address on the private network', () => 'https://10.0.0.1/'],
    ['a file', () => 'file:///etc/passwd'],
    ['an address with a password', () => 'https://a:b@example.com/'],
  ])('a redirect to %s is not followed', async (_, target) => {
    const url = serve('/page', (response) => response.writeHead(302, { location: target() }).end())
    expect(await problemOf(describeAt(url))).toBe('is not at a public address')
    expect(internalCalls).toBe(0)
  })

  it('a redirect to a public name with a private address is not followed', async () => {
    const resolved: string[] = []
    const url = serve('/page', (response) => response.writeHead(301, { location: 'https://pages.example.com/x' }).end())
    const resolve: ResolveName = async (name) => {
      resolved.push(name)
      return [{ address: '127.0.0.1', family: 4 }]
    }
    expect(await problemOf(describeAt(url, resolve))).toBe('could not be reached')
    expect(resolved).toEqual(['pages.example.com'])
  })

  it('an address of plain http is read over https', async () => {
    const resolved: string[] = []
    const resolve: ResolveName = async (name) => {
      resolved.push(name)
      return [{ address: '127.0.0.1', family: 4 }]
    }
    expect(await problemOf(describeAt('http://pages.example.com/', resolve))).toBe('could not be reached')
    expect(resolved).toEqual(['pages.example.com'])
  })

  it('five redirects are followed, and a loop is not', async () => {
    for (let step = 0; step < 5; step++) {
      serve(`/${step}`, (response) => response.writeHead(307, { location: `/${step + 1}` }).end())
    }
    serve('/5', (response) => response.writeHead(200, HTML).end('<title>T</title>'))
    serve('/loop', (response) => response.writeHead(302, { location: '/loop' }).end())
    expect(await describeAt(`${named.url}/0`)).toMatchObject({ title: 'T', url: `${named.url}/5` })
    expect(await problemOf(describeAt(`${named.url}/loop`))).toBe('redirects too often')
  })
})

describe('preview images', () => {
  const imageAt = (url: string) => withPages((pages) => pages.readImage(url, reading()))
  const image = (body: Buffer, headers: Record<string, string> = {}) =>
    serve('/image', (response) => response.writeHead(200, headers).end(body))

  it.each(['jpeg', 'png', 'webp', 'gif'] as const)('an image in %s is read, whatever its type says', async (format) => {
    const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
    const body = await picture.toFormat(format).toBuffer()
    expect(Buffer.from(await imageAt(image(body, { 'content-type': 'text/plain' })))).toEqual(body)
  })

  it.each([
    [
      'a drawing with references',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="/etc/passwd"/></svg>'),
    ],
    ['a page', Buffer.from('<title>T</title>')],
    ['a document', Buffer.from('%PDF-1.7\n')],
    ['nothing', Buffer.alloc(0)],
  ])('%s is no image', async (_, body) => {
    expect(await problemOf(imageAt(image(body, { 'content-type': 'image/png' })))).toBe('is no image')
  })

  it('an image above 5 MB is not read, whether its length is announced or not', async () => {
    const announced = image(Buffer.alloc(16), { 'content-length': '10000000000' })
    expect(await problemOf(imageAt(announced))).toBe('is larger than 5 MB')
    expect(await problemOf(imageAt(serve('/endless', endless(Buffer.alloc(65_536), {}))))).toBe('is larger than 5 MB')
    expect(sentBytes).toBeLessThan(24 * MIB)
  })
})

it('the hanging pages of one user do not delay those of another', async () => {
  const hanging = serve('/hanging', () => undefined)
  const url = page('<title>T</title>')
  const ends = new AbortController()
  await withPages(async (pages) => {
    const waiting = Array.from({ length: 20 }, () =>
      problemOf(pages.describe(hanging, { userId: 'ann', signal: ends.signal })).catch(() => 'ended'),
    )
    expect(await pages.describe(url, reading('ben'))).toMatchObject({ title: 'T' })
    ends.abort(new Error('over'))
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ended']))
  })
})
