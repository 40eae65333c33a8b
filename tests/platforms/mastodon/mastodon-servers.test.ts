import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import { startMastodon, type Mastodon, type MastodonOptions } from '../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { MAX_MEDIA_ITEMS, MAX_TEXT_LENGTH, POSTING_RULES } from '../../../src/domain/posts/posting-rules.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createMastodon } from '../../../src/platforms/mastodon/adapter.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import {
  controlOf,
  memoryApplications,
  memoryFacts,
  memoryMedia,
  newDelivery,
  newPost,
  platformErrorOf,
  searchOptions,
  withVersion,
} from '../shared/support.ts'
import { PUBLISH_TIMEOUT_MS, REDIRECT_URI } from './mastodon-support.ts'
import { chooseFirst } from '../shared/choose-first.ts'

const { media } = memoryMedia()
const options = () => ({ signal: AbortSignal.timeout(20_000) })

/** The operator's instance, an older server with long posts, and a server of another maker. */
const SERVERS = {
  configured: {},
  older: { version: '4.2.1', showsSeveral: false, maxCharacters: 2_000, charactersPerUrl: 30 },
  foreign: {
    honoursKeys: false,
    namesApplication: false,
    hasV2Instance: false,
    countsCodePoints: true,
    maxCharacters: 100,
  },
} satisfies Record<string, MastodonOptions>

type Name = keyof typeof SERVERS

let servers: Record<Name, Mastodon>
let opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  const started = await Promise.all(
    Object.entries(SERVERS).map(async ([name, one]) => [name, await startMastodon(one)]),
  )
  servers = Object.fromEntries(started) as typeof servers
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  await Promise.all(Object.values(servers).map((server) => controlOf(server).clearFaults()))
})
afterAll(() => Promise.all(Object.values(servers ?? {}).map((server) => server.stop())))

const newStorage = () => ({ facts: memoryFacts(), applications: memoryApplications() })

/** An adapter as a process of the service has it. Processes share their storage. */
function startProcess({ facts, applications } = newStorage(), allowed = Object.values(servers).map(({ url }) => url)) {
  const app = servers.configured.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  const { adapter, redirect, close } = createMastodon({
    instanceUrl: servers.configured.url,
    clientId: app.clientId,
    clientSecret: app.clientSecret,
    named: { allowedPrivate: allowed, application: { name: 'postonce', website: 'https://api.example.test' } },
    applications,
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    media,
    facts,
    userAgent: USER_AGENT,
  })
  opened.push({ close })

  const begin = (server?: string) =>
    redirect.begin({ state: 's-1', redirectUri: REDIRECT_URI, ...(server !== undefined && { server }) }, options())

  async function connect(name: Name, typed: string | undefined = servers[name].url): Promise<Credentials> {
    const { url, secrets } = await begin(typed)
    const { id } = servers[name].createAccount({ username: 'ann' })
    const query = Object.fromEntries(new URL(await consent(url, id)).searchParams)
    return withVersion(
      (await redirect.complete({ query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets }, options()))
        .credentials,
    )
  }

  async function publish(text: string, account: Credentials, delivery = newDelivery()) {
    const post = newPost(text)
    await adapter.prepare(post, account, delivery, options())
    return { delivery, post, published: await adapter.publish(post, account, delivery, options()) }
  }

  return { adapter: adapter as Required<PlatformAdapter>, begin, connect, publish }
}

async function requestsTo(name: Name, path: string): Promise<number> {
  return (await controlOf(servers[name]).requests()).filter((request) => request.path === path).length
}

const ledgerOf = (name: Name) => controlOf(servers[name]).ledger()

describe('accounts on several servers', () => {
  it('an account connects on the server that its user names, and posts are published there', async () => {
    const { connect, publish } = startProcess()
    const [home, older, foreign] = [await connect('configured'), await connect('older'), await connect('foreign')]
    expect([home, older, foreign].map(({ serviceUrl }) => serviceUrl)).toEqual(
      [servers.configured, servers.older, servers.foreign].map(({ url }) => url),
    )
    for (const [name, account] of [
      ['configured', home],
      ['older', older],
      ['foreign', foreign],
    ] as const) {
      const { host } = new URL(servers[name].url)
      const { published } = await publish(`hello ${name}`, account)
      const [entry] = (await ledgerOf(name)).filter(({ text }) => text === `hello ${name}`)
      expect(account.handle).toBe(`ann@${host}`)
      expect(published.platformPostId).toBe(name === 'configured' ? entry!.id : `${entry!.id}@${host}`)
      expect(published.platformPostUrl).toBe(`${servers[name].url}/@ann/${entry!.id}`)
    }
  })

  it('without a server the configured one is used, also for accounts without a stored server', async () => {
    const { connect, adapter, publish, begin } = startProcess()
    const { serviceUrl, ...account } = await connect('configured', undefined)
    expect(serviceUrl).toBe(servers.configured.url)
    expect(new URL((await begin()).url).origin).toBe(servers.configured.url)
    await publish('no stored server', account)
    expect((await adapter.profile(account, options())).handle).toContain('ann@')
  })

  it('ids of accounts and posts on named servers cannot equal ids of other servers', async () => {
    const { connect, adapter, publish } = startProcess()
    const account = await connect('older')
    const { host } = new URL(servers.older.url)
    expect(account.accountId).toMatch(new RegExp(`^\\d+@${host}$`))
    const { post, delivery, published } = await publish('unique everywhere', account)
    const taken: string[] = []
    const isTaken = async (id: string) => !taken.push(id)
    expect(await adapter.reconcile(post, account, delivery, searchOptions({ isTaken }))).toEqual(published)
    expect(taken).toContain(published.platformPostId)
    await controlOf(servers.older).setMetrics(published.platformPostId.split('@')[0]!, { likes: 7 })
    const ids = [published.platformPostId, `1@${host}`]
    const counts = await adapter.metrics.read(ids, account, options())
    expect(counts.get(ids[0]!)).toMatchObject({ likes: 7 })
    expect(counts.get(ids[1]!)).toBe('deleted')
    expect(await adapter.followers(account, options())).toBe(0)
  })

  it('each server has its own limits and dialect', async () => {
    const { connect, publish, adapter } = startProcess()
    const [home, older, foreign] = [await connect('configured'), await connect('older'), await connect('foreign')]
    await publish('x'.repeat(2_000), older)
    for (const [account, length] of [
      [home, 501],
      [older, 2_001],
      [foreign, 101],
    ] as const) {
      expect(await platformErrorOf(publish('x'.repeat(length), account))).toMatchObject({ class: 'validation' })
    }
    const limitsOf = async (server?: string) => (await adapter.limits({ ...options(), ...(server && { server }) })).text
    expect(await limitsOf()).toEqual([{ unit: 'graphemesLinksAs23', max: 500 }])
    expect(await limitsOf(servers.older.url)).toEqual([{ unit: 'graphemesLinksAs23', max: 2_000, linkLength: 30 }])
    expect(await limitsOf(servers.foreign.url)).toEqual([{ unit: 'codePoints', max: 100 }])
  })

  it('a server of another maker is not trusted to honour keys', async () => {
    const { connect, adapter } = startProcess()
    const lost = { calledAt: new Date(Date.now() - 45_000), wasAnswered: false }
    const reconcile = async (name: Name) =>
      adapter.reconcile(newPost('never sent'), await connect(name), newDelivery(), searchOptions(lost))
    expect(await reconcile('older')).toBe('absent')
    expect(await reconcile('foreign')).toBe('in-flight')
  })

  it('a server that is gone fails only its own accounts', async () => {
    const gone = await startMastodon()
    const { connect, publish, begin, adapter } = startProcess(newStorage(), [gone.url, servers.older.url])
    const lost = { ...(await connect('older')), serviceUrl: gone.url }
    await gone.stop()
    expect(await platformErrorOf(adapter.profile(lost, options()))).toMatchObject({ class: 'transient', certain: true })
    expect(await platformErrorOf(publish('nowhere', lost))).toMatchObject({ class: 'transient', certain: true })
    expect(await platformErrorOf(begin(gone.url))).toMatchObject({ class: 'transient' })
    await publish('still works', await connect('older'))
  })

  it('the token of an account on a server that is no longer allowed is sent nowhere', async () => {
    const account = await startProcess().connect('older')
    const { adapter } = startProcess(newStorage(), [])
    const before = (await controlOf(servers.older).requests()).length
    expect(await platformErrorOf(adapter.profile(account, options()))).toMatchObject({ class: 'unauthorized' })
    await adapter.revoke(account, options())
    expect((await controlOf(servers.older).requests()).length).toBe(before)
  })

  it('revoking ends the login on the server of the account', async () => {
    const { connect, adapter } = startProcess()
    const account = await connect('older')
    await adapter.revoke(account, options())
    expect(await platformErrorOf(adapter.profile(account, options()))).toMatchObject({ class: 'unauthorized' })
  })
})

describe('the application on a named server', () => {
  it('one application is used, however many processes and users connect concurrently', async () => {
    const storage = newStorage()
    const processes = [startProcess(storage), startProcess(storage)]
    const begun = await Promise.all(
      processes.flatMap(({ begin }) => Array.from({ length: 5 }, () => begin(servers.older.url))),
    )
    const clientIds = new Set(begun.map(({ url }) => new URL(url).searchParams.get('client_id')))
    expect(clientIds).toEqual(new Set([storage.applications.stored.get(`mastodon/${servers.older.url}`)!.clientId]))
    const before = await requestsTo('older', '/api/v1/apps')
    await processes[0]!.connect('older')
    expect(await requestsTo('older', '/api/v1/apps')).toBe(before)
  })

  it('an application that the server has forgotten is registered again', async () => {
    const storage = newStorage()
    const { connect, publish, begin } = startProcess(storage)
    const first = new URL((await begin(servers.foreign.url)).url).searchParams.get('client_id')
    servers.foreign.forgetApps()
    await publish('with a new application', await connect('foreign'))
    const second = storage.applications.stored.get(`mastodon/${servers.foreign.url}`)!.clientId
    expect(second).not.toBe(first)
  })

  it('an application that is forgotten during a login fails that login only', async () => {
    const { begin, connect } = startProcess()
    const { url } = await begin(servers.foreign.url)
    const { id } = servers.foreign.createAccount({ username: 'ann' })
    const action = { status: 401, body: { error: 'invalid_client', error_description: 'Unknown client' } }
    await controlOf(servers.foreign).addFault({ path: '/oauth/token', times: 2, action })
    expect(await consent(url, id)).toContain('code=')
    expect(await platformErrorOf(connect('foreign'))).toMatchObject({
      class: 'permission',
      connectReason: 'LOGIN_REFUSED',
    })
    await controlOf(servers.foreign).clearFaults()
    expect((await connect('foreign')).serviceUrl).toBe(servers.foreign.url)
  })

  it('another redirect URI needs another registration', async () => {
    const storage = newStorage()
    const { begin, connect } = startProcess(storage)
    await begin(servers.older.url)
    const stored = storage.applications.stored.get(`mastodon/${servers.older.url}`)!
    storage.applications.stored.set(`mastodon/${servers.older.url}`, {
      ...stored,
      redirectUri: 'https://old.example.test',
    })
    await connect('older')
    expect(storage.applications.stored.get(`mastodon/${servers.older.url}`)).toMatchObject({
      redirectUri: REDIRECT_URI,
    })
  })

  it('a server that refuses the check of an application is trusted to know it', async () => {
    const { begin } = startProcess()
    await begin(servers.older.url)
    const body = { error: 'unsupported_grant_type', error_description: 'Only codes' }
    await controlOf(servers.older).addFault({ path: '/oauth/token', action: { status: 400, body } })
    const before = await requestsTo('older', '/api/v1/apps')
    await begin(servers.older.url)
    expect(await requestsTo('older', '/api/v1/apps')).toBe(before)
  })
})

describe('the limits of a named server', () => {
  it('limits are read once a day by all processes together', async () => {
    const storage = newStorage()
    const limits = () => startProcess(storage).adapter.limits({ ...options(), server: servers.older.url })
    const before = await requestsTo('older', '/api/v2/instance')
    for (let count = 0; count < 3; count++) {
      expect((await limits()).text[0].max).toBe(2_000)
      await expect.poll(() => storage.facts.facts.size).toBe(1)
    }
    expect(await requestsTo('older', '/api/v2/instance')).toBe(before + 1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY + 1 })
    expect((await limits()).text[0].max).toBe(2_000)
    await expect.poll(() => requestsTo('older', '/api/v2/instance')).toBe(before + 2)
  })

  it('stored limits apply while the server does not answer', async () => {
    const storage = newStorage()
    const account = await startProcess(storage).connect('older')
    await startProcess(storage).publish('learns the limits', account)
    await controlOf(servers.older).addFault({ path: '/instance', action: { cut: true } })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY + 1 })
    expect((await startProcess(storage).adapter.limits({ ...options(), server: servers.older.url })).text[0].max).toBe(
      2_000,
    )
  })
})

/** A server whose instance document is whatever it likes. */
async function startHostile(document: string) {
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(document)
  })
  const url = await listenOnLoopback(server)
  opened.push({ close: () => closeServer(server) })
  return url
}

const instance = (configuration: unknown, version: unknown = '4.5.0') => JSON.stringify({ version, configuration })
const statuses = (max_characters: unknown) => instance({ statuses: { max_characters } })

describe('a hostile instance document', () => {
  it.each([
    ['no JSON', '<html>'],
    ['a number', '7'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no configuration', '{"version":"4.5.0"}'],
    ['a configuration that is a text', instance('x')],
    ['statuses that are a list', instance({ statuses: [] })],
    ['a limit as a text', statuses('5000')],
    ['a limit as an object', statuses({ $gt: 0 })],
    ['a negative limit', statuses(-1)],
    ['a limit of zero', statuses(0)],
    ['a fraction', statuses(0.5)],
    ['a version that is a number', instance({ statuses: {} }, 4)],
    [
      'a prototype',
      '{"__proto__":{"max":1},"version":"4.5.0","configuration":{"statuses":{"__proto__":{"max_characters":9}}}}',
    ],
    ['deep nesting', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    [
      'deep nesting inside',
      instance({ statuses: {} }).replace('{}', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`),
    ],
  ])('the default applies in place of %s', async (_, document) => {
    const url = await startHostile(document)
    const { text, media: rules } = await startProcess(newStorage(), [url]).adapter.limits({ ...options(), server: url })
    expect(text[0].max).toBe(500)
    expect(rules.max).toBe(POSTING_RULES.mastodon.media.max)
  })

  it('huge limits are bounded', async () => {
    const huge = 1e15
    const url = await startHostile(
      instance({
        statuses: { max_characters: huge, max_media_attachments: huge, characters_reserved_per_url: huge },
        media_attachments: {
          image_size_limit: huge,
          image_matrix_limit: huge,
          video_size_limit: huge,
          video_matrix_limit: huge,
          video_frame_rate_limit: huge,
          description_limit: huge,
          supported_mime_types: ['text/html', 'image/png', 7, { a: 1 }, 'x'.repeat(100_000)],
        },
      }),
    )
    const storage = newStorage()
    const rules = await startProcess(storage, [url]).adapter.limits({ ...options(), server: url })
    expect(rules).toEqual({
      ...POSTING_RULES.mastodon,
      text: [{ unit: 'graphemesLinksAs23', max: MAX_TEXT_LENGTH, linkLength: 2_000 }],
      media: {
        ...POSTING_RULES.mastodon.media,
        max: MAX_MEDIA_ITEMS,
        image: { max: MAX_MEDIA_ITEMS, types: POSTING_RULES.mastodon.media.image.types, maxBytes: 1_073_741_824 },
        video: { max: 1, types: [], maxBytes: 1_073_741_824, pixels: 1_000_000_000, frameRate: { max: 1_000 } },
      },
      altText: { image: 10_000, video: 10_000 },
    })
    await expect.poll(() => [...storage.facts.facts.values()].join('').length).toBeGreaterThan(0)
    expect([...storage.facts.facts.values()].join('').length).toBeLessThan(500)
  })
})
