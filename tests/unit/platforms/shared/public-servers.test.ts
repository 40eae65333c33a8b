import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServerNotAllowedError } from '../../../../src/platforms/errors.ts'
import { isPublicAddress, type ResolveName } from '../../../../src/platforms/shared/public-lookup.ts'
import { createPublicServers } from '../../../../src/platforms/shared/public-servers.ts'
import { isPublicName, parseServerAddress } from '../../../../src/platforms/shared/server-address.ts'

describe('parseServerAddress', () => {
  it.each([
    ['mastodon.social', 'https://mastodon.social'],
    ['  Mastodon.Social. ', 'https://mastodon.social'],
    ['https://Mastodon.Social/', 'https://mastodon.social'],
    ['HTTPS://mastodon.social', 'https://mastodon.social'],
    ['mastodon.social:443', 'https://mastodon.social'],
    ['@ann@mastodon.social', 'https://mastodon.social'],
    ['ann.b-c_d@mastodon.social', 'https://mastodon.social'],
    ['\u200bmastodon.social\u2069', 'https://mastodon.social'],
    ['käse.example.org', 'https://xn--kse-qla.example.org'],
    ['xn--kse-qla.example.org', 'https://xn--kse-qla.example.org'],
    ['例え.jp', 'https://xn--r8jz45g.jp'],
  ])('the address %j names the server %s', (typed, origin) => {
    expect(parseServerAddress(typed)).toBe(origin)
  })

  it.each([
    ['nothing', ''],
    ['one label', 'localhost'],
    ['one label', 'mastodon'],
    ['an IPv4 address', '8.8.8.8'],
    ['an IPv4 address in decimal', '2130706433'],
    ['an IPv4 address in decimal', '127.1'],
    ['an IPv4 address in octal', '0177.0.0.1'],
    ['an IPv4 address in hex', '0x7f000001'],
    ['an IPv4 address in mixed form', '0x7f.0.01'],
    ['an IPv4 address in wide digits', '１２７.0.0.1'],
    ['an IPv4 address with a final dot', '127.0.0.1.'],
    ['an IPv6 address', '[::1]'],
    ['an IPv6 address', '[::ffff:127.0.0.1]'],
    ['an IPv6 address', '::1'],
    ['an IPv6 address', 'https://[2606:4700::1]/'],
    ['a user and a password', 'https://user:password@mastodon.social'],
    ['a user', 'https://ann@mastodon.social'],
    ['a user before an address', 'ann@127.0.0.1'],
    ['plain http', 'http://mastodon.social'],
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme', 'gopher://mastodon.social'],
    ['another port', 'mastodon.social:8443'],
    ['another port', 'https://mastodon.social:80/'],
    ['a path', 'https://mastodon.social/@ann'],
    ['a path', 'mastodon.social/..'],
    ['a query', 'mastodon.social?x=1'],
    ['a fragment', 'mastodon.social#x'],
    ['a backslash', 'mastodon.social\\@evil.org'],
    ['an encoded dot', 'localhost%2eorg'],
    ['an encoded address', '%31%32%37.0.0.1'],
    ['a line end', 'mastodon.\nsocial'],
    ['a space', 'mastodon .social'],
    ['empty labels', 'mastodon..social'],
    ['a leading hyphen', '-mastodon.social'],
    ['an underscore', 'my_server.org'],
    ['a label of 64 characters', `${'a'.repeat(64)}.org`],
    ['a name of 254 characters', `${'a.'.repeat(125)}orgs`],
    ['a text that is too long', `${' '.repeat(400)}mastodon.social`],
    ['a name of a local network', 'printer.local'],
    ['a name of a local network', 'metadata.google.internal'],
    ['a name of a local network', 'nas.home.arpa'],
    ['a reserved name', 'mastodon.localhost'],
    ['a reserved name', 'server.test'],
    ['a hidden service', 'abcdef.onion'],
    ['a numeric top level', 'server.123'],
    ['a wide full stop', 'localhost。'],
  ])('%s is refused: %j', (_, typed) => {
    expect(parseServerAddress(typed)).toBeNull()
  })

  it('whatever is typed, the result is null or a canonical https origin with a public name', () => {
    const part = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6(),
      fc.webUrl(),
      fc.emailAddress(),
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('@', ':', '/', '//', '\\', '.', '%', '#', '?', ' ', ':443', 'https://', 'http://', '0x7f', '。'),
    )
    const typed = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(typed, (text) => {
        const origin = parseServerAddress(text)
        if (origin === null) return
        const url = new URL(origin)
        expect(url.origin).toBe(origin)
        expect(url.protocol).toBe('https:')
        expect(isPublicName(url.hostname)).toBe(true)
        expect(parseServerAddress(origin)).toBe(origin)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** Ranges that are not globally routable unicast, or that embed another address (IANA special-purpose registries). */
const SPECIAL = {
  '0.0.0.0/8': ['0.0.0.0', '0.1.2.3'],
  '10.0.0.0/8': ['10.0.0.1', '10.255.255.255'],
  '100.64.0.0/10': ['100.64.0.1', '100.127.255.255'],
  '127.0.0.0/8': ['127.0.0.1', '127.255.255.254'],
  '169.254.0.0/16': ['169.254.169.254'],
  '172.16.0.0/12': ['172.16.0.1', '172.31.255.255'],
  '192.0.0.0/24': ['192.0.0.1', '192.0.0.170'],
  '192.0.2.0/24': ['192.0.2.1'],
  '192.88.99.0/24': ['192.88.99.1'],
  '192.168.0.0/16': ['192.168.0.1', '192.168.255.255'],
  '198.18.0.0/15': ['198.18.0.1', '198.19.255.255'],
  '198.51.100.0/24': ['198.51.100.1'],
  '203.0.113.0/24': ['203.0.113.1'],
  '224.0.0.0/4': ['224.0.0.1', '239.255.255.255'],
  '240.0.0.0/4': ['240.0.0.1', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  '::/128 and ::1/128': ['::', '::1'],
  '::/96, IPv4-compatible': ['::127.0.0.1', '::8.8.8.8'],
  '::ffff:0:0/96, mapped': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
  '64:ff9b::/96 and 64:ff9b:1::/48, NAT64': ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  '100::/64, discard': ['100::1'],
  '2001::/32, Teredo': ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  '2001:2::/48, benchmarking': ['2001:2::1'],
  '2001:10::/28, ORCHID': ['2001:10::1'],
  '2001:db8::/32, documentation': ['2001:db8::1'],
  '2002::/16, 6to4': ['2002:7f00:1::', '2002:808:808::1'],
  '3fff::/20, documentation': ['3fff::1'],
  '4000::/2, unassigned': ['4000::1', '8000::1'],
  '5f00::/16, segment routing': ['5f00::1'],
  'fc00::/7, unique local': ['fc00::1', 'fd12:3456::1'],
  'fe80::/10, link-local': ['fe80::1', 'fe80::1%eth0'],
  'fec0::/10, site-local': ['fec0::1'],
  'ff00::/8, multicast': ['ff02::1'],
  'no address': ['', 'localhost', '127.1', '0x7f.1', '2130706433', '1.2.3', '[::1]'],
}

describe('isPublicAddress', () => {
  it.each(Object.entries(SPECIAL))('no address in %s is public', (_, addresses) => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false])
  })

  it.each(['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '223.255.255.254'])(
    'the IPv4 address %s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  it.each(['2606:4700::1111', '2a00:1450:4001:800::200e', '2620:fe::fe'])('the IPv6 address %s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  )

  it('an IPv4 address is public exactly outside the special ranges', () => {
    const special = [
      [0x00000000, 8], [0x0a000000, 8], [0x64400000, 10], [0x7f000000, 8], [0xa9fe0000, 16], [0xac100000, 12],
      [0xc0000000, 24], [0xc0000200, 24], [0xc01fc400, 24], [0xc034c100, 24], [0xc0586300, 24], [0xc0a80000, 16],
      [0xc0af3000, 24], [0xc6120000, 15], [0xc6336400, 24], [0xcb007100, 24], [0xe0000000, 3],
    ] as const // prettier-ignore
    const isSpecial = (bits: number) => special.some(([net, length]) => (bits ^ net) >>> (32 - length) === 0)
    const near = fc.constantFrom(...special).chain(([net]) => fc.integer({ min: -300, max: 300 }).map((by) => net + by))
    fc.assert(
      fc.property(fc.oneof(near, fc.integer({ min: 0, max: 0xffffffff })), (bits) => {
        const address = [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
        expect([address, isPublicAddress(address)]).toEqual([address, !isSpecial(bits >>> 0)])
      }),
      { numRuns: 5_000 },
    )
  })
})

const PUBLIC = [{ address: '1.1.1.1', family: 4 }]
const signal = AbortSignal.timeout(20_000)

const serversAt = (resolve: ResolveName, more = {}) => createPublicServers({ configured: [], resolve, ...more })

describe('servers that users name', () => {
  it('the configured server is named by its URL, and an allowed private server also by its host', () => {
    const servers = createPublicServers({
      configured: ['http://mastodon.internal:3000/'],
      allowedPrivate: ['http://127.0.0.1:4000'],
    })
    expect(servers.parse(' http://127.0.0.1:4000/ ')).toBe('http://127.0.0.1:4000')
    expect(servers.parse('127.0.0.1:4000')).toBe('http://127.0.0.1:4000')
    expect(servers.parse('http://mastodon.internal:3000')).toBe('http://mastodon.internal:3000')
    for (const typed of [
      'http://127.0.0.1:4001',
      'https://127.0.0.1:4000',
      'http://127.0.0.1:4000/x',
      'http://ann@127.0.0.1:4000',
      '127.0.0.1',
      'mastodon.internal:3000',
    ]) {
      expect(() => servers.parse(typed)).toThrow(ServerNotAllowedError)
    }
  })

  it('the port * of an allowed private server means every port, and nothing else of the origin', () => {
    const servers = createPublicServers({ configured: [], allowedPrivate: ['http://127.0.0.1:*'] })
    for (const origin of ['http://127.0.0.1:1', 'http://127.0.0.1:65535']) {
      expect(servers.isAllowed(origin)).toBe(true)
      expect(servers.guard.isTrusted(origin)).toBe(true)
      for (const typed of [origin, ` ${origin}/ `, new URL(origin).host]) expect(servers.parse(typed)).toBe(origin)
    }
    for (const origin of [
      'https://127.0.0.1:1',
      'http://127.0.0.1',
      'http://127.0.0.2:1',
      'http://127.0.0.1:1@evil.example',
    ]) {
      expect(servers.isAllowed(origin)).toBe(false)
      expect(servers.guard.isTrusted(origin)).toBe(false)
      expect(() => servers.parse(origin)).toThrow(ServerNotAllowedError)
    }
  })

  it('a list restricts the servers, and a leading dot includes subdomains', () => {
    const servers = createPublicServers({
      configured: ['https://home.social'],
      only: ['mastodon.social', '.example.org'],
    })
    for (const typed of ['mastodon.social', 'a.example.org', 'home.social']) {
      expect(servers.isAllowed(servers.parse(typed))).toBe(true)
    }
    for (const typed of ['mastodon.online', 'x.mastodon.social', 'example.org', 'evil-example.org']) {
      expect(() => servers.parse(typed)).toThrow('cannot be connected here')
      expect(servers.isAllowed(`https://${typed}`)).toBe(false)
    }
  })

  it.each(['https://mastodon.social/', 'https://MASTODON.social', 'http://mastodon.social', 'https://127.0.0.1', ''])(
    'a stored URL that is not a canonical origin is not allowed: %j',
    (url) => expect(serversAt(async () => PUBLIC).isAllowed(url)).toBe(false),
  )

  it('private and unknown names fail with the same error', async () => {
    const unknown = async () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
    const resolvers: ResolveName[] = [
      unknown,
      async () => [],
      async () => [{ address: '10.0.0.1', family: 4 }],
      async () => [{ address: '::ffff:8.8.8.8', family: 6 }],
    ]
    const messages = new Set<string>()
    for (const resolve of resolvers) {
      const error = await serversAt(resolve)
        .assertPublic('https://a.org', { signal })
        .catch((thrown: Error) => thrown)
      expect(error).toBeInstanceOf(ServerNotAllowedError)
      messages.add((error as Error).message)
    }
    expect(messages.size).toBe(1)
  })

  it('a resolver that fails for now is temporary', async () => {
    const resolve = async () => Promise.reject(Object.assign(new Error(), { code: 'EAI_AGAIN' }))
    await expect(serversAt(resolve).assertPublic('https://a.org', { signal })).rejects.toMatchObject({
      class: 'transient',
      certain: true,
    })
  })

  it('a socket gets only the public addresses of a name, and at most eight', async () => {
    const mixed = [{ address: '127.0.0.1', family: 4 }, ...PUBLIC, { address: 'fe80::1', family: 6 }]
    const many = Array.from({ length: 100 }, (_, index) => ({ address: `1.1.1.${index + 1}`, family: 4 }))
    const resolveWith = (addresses: typeof PUBLIC, all: boolean) =>
      new Promise((done) => {
        const { lookup } = serversAt(async () => addresses).guard
        lookup('a.org', { all }, (error, ...found) => done(error ?? found))
      })
    expect(await resolveWith(mixed, true)).toEqual([PUBLIC])
    expect(await resolveWith(mixed, false)).toEqual(['1.1.1.1', 4])
    expect(await resolveWith(many, true)).toEqual([many.slice(0, 8)])
    expect(await resolveWith(mixed.slice(0, 1), true)).toMatchObject({ name: 'NoPublicAddressError' })
  })
})
