import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBluesky, type Bluesky, type BlueskyAccount } from '../../../sandbox/platforms/bluesky.ts'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import type { Credentials, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createBluesky, type BlueskyOptions } from '../../../src/platforms/bluesky/adapter.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import {
  controlOf,
  memoryMedia,
  newDelivery,
  newHandle,
  newPost,
  platformErrorOf,
  postsOf,
  withVersion,
} from '../shared/support.ts'

const { media } = memoryMedia()
const options = () => ({ signal: AbortSignal.timeout(20_000) })

/** The operator's entry, and another server. The directory knows the accounts of the latter. */
let entry: Bluesky
let other: Bluesky
let owner: BlueskyAccount
let opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  ;[entry, other] = await Promise.all([startBluesky(), startBluesky()])
  owner = await other.createAccount({ handle: newHandle() })
})
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  await Promise.all([entry, other].map((server) => controlOf(server).clearFaults()))
})
afterAll(async () => {
  await entry?.stop()
  await other?.stop()
})

function adapterWith(overrides: Partial<BlueskyOptions> = {}) {
  const { adapter, direct, close } = createBluesky({
    entryUrl: entry.url,
    accountHosts: [],
    allowedPrivate: [other.url],
    directoryUrl: other.directoryUrl,
    videoUrl: entry.url,
    appUrl: 'https://bsky.app',
    publishTimeoutMs: 4_000,
    media,
    userAgent: USER_AGENT,
    ...overrides,
  })
  opened.push({ close })
  const connect = async (identifier: string, { appPassword } = owner): Promise<Credentials> =>
    withVersion((await direct.connect(identifier, appPassword, options())).credentials)
  return { adapter: adapter as Required<PlatformAdapter>, connect }
}

/** Makes the entry resolve the owner's handle, as a server does for accounts anywhere. */
const resolveOwner = (did: string = owner.did) =>
  controlOf(entry).addFault({ path: 'resolveHandle', action: { status: 200, body: { did } } })

const loginsAt = async (server: Bluesky) =>
  (await controlOf(server).requests()).filter(({ path }) => path.includes('createSession')).length

/** Serves one JSON document for every path. */
async function serve(body: unknown) {
  const received: string[] = []
  const server: Server = createServer((request, response) => {
    received.push(request.url!)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const url = await listenOnLoopback(server)
  opened.push({ close: () => closeServer(server) })
  return { url, received }
}

function documentOf(did: string, serviceEndpoint: string) {
  return { id: did, service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }] }
}

const toWebDid = (url: string) => `did:web:${new URL(url).host.replace(':', '%3A')}`

describe('accounts on other servers', () => {
  it.each(['DID', 'handle'])('an account connects by its %s on its own server, and posts there', async (kind) => {
    await resolveOwner()
    const before = await loginsAt(entry)
    const { adapter, connect } = adapterWith()
    const account = await connect(kind === 'DID' ? owner.did : `@${owner.handle}`)
    expect(account).toMatchObject({ accountId: owner.did, handle: owner.handle, serviceUrl: other.url })
    expect(await loginsAt(entry)).toBe(before)
    const [post, delivery] = [newPost(`from elsewhere by ${kind}`), newDelivery()]
    await adapter.prepare(post, account, delivery, options())
    const { platformPostId } = await adapter.publish(post, account, delivery, options())
    expect((await postsOf(other.pdsUrl, owner)).map(({ uri }) => uri)).toContain(platformPostId)
    const renewed = await adapter.renew(account, options())
    expect(renewed).toMatchObject({ accountId: owner.did, serviceUrl: other.url })
    await adapter.revoke(withVersion(renewed), options())
    expect(await platformErrorOf(adapter.renew(withVersion(renewed), options()))).toMatchObject({
      class: 'unauthorized',
    })
  })

  it('accounts of the entry log in at the entry', async () => {
    const local = await entry.createAccount({ handle: newHandle() })
    const { connect } = adapterWith({ directoryUrl: entry.directoryUrl })
    for (const identifier of [local.handle, local.did]) {
      expect(await connect(identifier, local)).toMatchObject({ accountId: local.did, serviceUrl: entry.url })
    }
  })

  it('the entry decides when the directory does not answer, or knows nothing', async () => {
    const local = await entry.createAccount({ handle: newHandle() })
    const { url } = await serve({ message: 'DID not registered' })
    for (const directoryUrl of ['http://127.0.0.1:1', url, other.directoryUrl]) {
      const { connect } = adapterWith({ directoryUrl })
      expect(await connect(local.handle, local)).toMatchObject({ serviceUrl: entry.url })
    }
  })

  it('a mail address is sent to the entry only, and is not resolved', async () => {
    const { connect } = adapterWith()
    const before = (await controlOf(entry).requests()).length
    expect(await platformErrorOf(connect('ann@example.test'))).toMatchObject({ class: 'unauthorized' })
    const paths = (await controlOf(entry).requests()).slice(before).map(({ path }) => path)
    expect(paths).toEqual([expect.stringContaining('createSession')])
  })

  it.each([
    ['createSession', 'connect'],
    ['refreshSession', 'renew'],
  ])('a server that names another account in %s is refused', async (path, step) => {
    await resolveOwner()
    const { adapter, connect } = adapterWith()
    const account = await connect(owner.did)
    const body = { did: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', handle: 'victim.test', accessJwt: 'a', refreshJwt: 'b' }
    await controlOf(other).addFault({ path, action: { status: 200, body } })
    const work = step === 'connect' ? connect(owner.did) : adapter.renew(account, options())
    expect(await platformErrorOf(work)).toMatchObject({ class: 'unauthorized', certain: true })
  })

  it('a list of hosts restricts the servers', async () => {
    const { connect } = adapterWith({ accountHosts: ['pds.example.org'], allowedPrivate: [] })
    const before = await loginsAt(other)
    expect(await platformErrorOf(connect(owner.did))).toMatchObject({ class: 'unauthorized' })
    expect(await loginsAt(other)).toBe(before)
  })

  it('a did:web account logs in at the server that its own host names', async () => {
    const document = documentOf('', other.url)
    const { url, received } = await serve(document)
    document.id = toWebDid(url)
    const { connect } = adapterWith({ allowedPrivate: [other.url, url] })
    const before = await loginsAt(other)
    // That server has no account with this DID.
    expect(await platformErrorOf(connect(document.id))).toMatchObject({ class: 'unauthorized' })
    expect(received).toEqual(['/.well-known/did.json'])
    expect(await loginsAt(other)).toBe(before + 1)
  })

  it('a DID document of another account counts for nothing', async () => {
    const { url, received } = await serve(documentOf(owner.did, other.url))
    const { connect } = adapterWith({ allowedPrivate: [other.url, url] })
    const before = await loginsAt(other)
    expect(await platformErrorOf(connect(toWebDid(url)))).toMatchObject({ class: 'unauthorized' })
    expect(received).toHaveLength(1)
    expect(await loginsAt(other)).toBe(before)
  })
})
