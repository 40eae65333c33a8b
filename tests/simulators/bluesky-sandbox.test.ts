import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBluesky, type Bluesky } from '../../sandbox/platforms/bluesky.ts'
import { closeServer } from '../../sandbox/platforms/listen.ts'
import { controlOf, newHandle, xrpcOf } from '../platforms/shared/support.ts'

interface SessionView {
  did: string
  accessJwt: string
  refreshJwt: string
  didDoc: { service: { serviceEndpoint: string }[] }
}

let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'postonce-bluesky-test-'))
})

afterAll(() => rm(dir, { recursive: true, force: true }))

async function logIn(bluesky: Bluesky, handle: string): Promise<SessionView> {
  const { appPassword } = await bluesky.createAccount({ handle })
  const body = { identifier: handle, password: appPassword }
  return (await xrpcOf(bluesky.url)<SessionView>('com.atproto.server.createSession', { body })).body
}

async function writePost(bluesky: Bluesky, { did, accessJwt }: SessionView, text: string): Promise<string> {
  const record = { $type: 'app.bsky.feed.post', text, createdAt: new Date().toISOString() }
  const body = { repo: did, collection: 'app.bsky.feed.post', record }
  const call = xrpcOf(bluesky.url)<{ uri: string }>
  return (await call('com.atproto.repo.createRecord', { body, token: accessJwt })).body.uri
}

async function textsOf(bluesky: Bluesky): Promise<string[]> {
  return (await controlOf(bluesky).ledger()).map(({ text }) => text)
}

describe('the Bluesky server of the sandbox', () => {
  it('posts have a page where the app of the network would show them', async () => {
    const bluesky = await startBluesky()
    try {
      const session = await logIn(bluesky, newHandle())
      const uri = await writePost(bluesky, session, 'Shown on a <page>')
      const pageOf = (key: string) => fetch(`${bluesky.url}/profile/${session.did}/post/${key}`)
      const page = await pageOf(uri.split('/').at(-1)!)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(await page.text()).toContain('Shown on a &lt;page&gt;')
      expect((await pageOf('other')).status).toBe(404)
    } finally {
      await bluesky.stop()
    }
  })

  it("logins that take longer than the server's padding print no Node warnings", async () => {
    const program = new URL('../../sandbox/platforms/bluesky.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = text(child.stderr)
    const [started] = (await once(child.stdout, 'data')) as [Buffer]
    const { url, control } = JSON.parse(started.toString()) as { url: string; control: string }
    const handle = newHandle()
    const made = await fetch(`${control}/accounts`, { method: 'POST', body: JSON.stringify({ handle }) })
    const { appPassword } = (await made.json()) as { appPassword: string }
    const body = { identifier: handle, password: appPassword }
    // Each login hashes twice, and all share the same few threads.
    const logins = Array.from({ length: 24 }, () => xrpcOf(url)('com.atproto.server.createSession', { body }))
    expect((await Promise.all(logins)).every(({ status }) => status === 200)).toBe(true)
    child.kill('SIGTERM')
    expect(await printed).not.toContain('TimeoutNegativeWarning')
  })

  it('accounts, posts and the address survive a restart', async () => {
    const handle = newHandle()
    const first = await startBluesky({ dir })
    const account = await first.createAccount({ handle })
    const session = await logIn(first, handle)
    expect(session.didDoc.service[0]!.serviceEndpoint).toBe(first.url)
    await writePost(first, session, 'before')
    await first.stop()

    const second = await startBluesky({ dir })
    expect([second.url, second.control]).toEqual([first.url, first.control])
    expect(await second.createAccount({ handle })).toEqual(account)
    await writePost(second, session, 'after')
    expect(await textsOf(second)).toEqual(['before', 'after'])
    await second.stop()

    const blocker = createServer().listen(Number(new URL(first.url).port), '127.0.0.1')
    const third = await startBluesky({ dir })
    expect(third.url).not.toBe(first.url)
    expect((await logIn(third, handle)).didDoc.service[0]!.serviceEndpoint).toBe(third.url)
    await writePost(third, await logIn(third, handle), 'elsewhere')
    expect(await textsOf(third)).toEqual(['before', 'after', 'elsewhere'])
    await third.stop()
    await closeServer(blocker)
  })

  it('an incompletely created account is completed', async () => {
    const own = await mkdtemp(join(dir, 'half-'))
    const handle = newHandle()
    const first = await startBluesky({ dir: own })
    const { did, email, password } = await first.createAccount({ handle })
    await first.stop()
    await writeFile(join(own, 'accounts.json'), JSON.stringify({ [handle]: { handle, email, password } }))

    const second = await startBluesky({ dir: own })
    expect(await second.createAccount({ handle })).toMatchObject({ did, email, password })
    expect((await logIn(second, handle)).did).toBe(did)
    await second.stop()
  })

  describe('the control interface', () => {
    let bluesky: Bluesky
    let handle: string
    let session: SessionView

    beforeAll(async () => {
      bluesky = await startBluesky()
      handle = newHandle()
      session = await logIn(bluesky, handle)
    })

    afterAll(() => bluesky.stop())

    it('the ledger shows exactly what the public sees', async () => {
      const uri = await writePost(bluesky, session, 'public')
      const entry = (await controlOf(bluesky).ledger()).find(({ id }) => id === uri)
      expect(entry).toEqual({ id: uri, account: handle, text: 'public', media: [], createdAt: entry!.createdAt })
      await controlOf(bluesky).deletePost(uri)
      expect((await controlOf(bluesky).ledger()).map(({ id }) => id)).not.toContain(uri)
      const query = { repo: session.did, collection: 'app.bsky.feed.post', rkey: uri.split('/').at(-1)! }
      const read = await xrpcOf(bluesky.url)('com.atproto.repo.getRecord', { query })
      expect(read).toMatchObject({ status: 400, body: { error: 'RecordNotFound' } })
      await expect(controlOf(bluesky).deletePost(uri)).rejects.toThrow('404')
    })

    it('profiles and posts are served with counts that can be set', async () => {
      const uri = await writePost(bluesky, session, 'counted')
      await controlOf(bluesky).setMetrics(uri, { likes: 5, shares: 2, comments: 1, saved: 3 })
      const posts = await xrpcOf(bluesky.url)<{ posts: object[] }>('app.bsky.feed.getPosts', {
        query: { uris: uri },
        token: session.accessJwt,
      })
      expect(posts.body.posts).toMatchObject([
        {
          uri,
          likeCount: 5,
          repostCount: 2,
          replyCount: 1,
          quoteCount: 0,
          bookmarkCount: 3,
          record: { text: 'counted' },
        },
      ])
      const account = await fetch(`${bluesky.control}/accounts/${handle}/metrics`, {
        method: 'POST',
        body: JSON.stringify({ followers: 7 }),
      })
      expect(account.status).toBe(200)
      const profile = await xrpcOf(bluesky.url)('app.bsky.actor.getProfile', {
        query: { actor: handle },
        token: session.accessJwt,
      })
      expect(profile.body).toMatchObject({ did: session.did, handle, followersCount: 7 })
    })

    it('missing profiles and posts are not found', async () => {
      const call = xrpcOf(bluesky.url)<{ posts: object[] }>
      const token = session.accessJwt
      const uri = `at://${session.did}/app.bsky.feed.post/3ke6kg3wk2222`
      expect(await call('app.bsky.actor.getProfile', { query: { actor: 'nobody.test' }, token })).toMatchObject({
        status: 400,
        body: { error: 'InvalidRequest', message: 'Profile not found' },
      })
      expect((await call('app.bsky.feed.getPosts', { query: { uris: uri }, token })).body.posts).toEqual([])
      await expect(controlOf(bluesky).setMetrics(uri, { likes: 1 })).rejects.toThrow('404')
    })

    it('revoking an account ends all its sessions, and it can log in again', async () => {
      const other = newHandle()
      const old = await logIn(bluesky, other)
      const get = (token: string) => xrpcOf(bluesky.url)('com.atproto.server.getSession', { token })
      expect((await get(old.accessJwt)).status).toBe(200)
      // Tokens have whole seconds: a login in the second of the revocation is the difficult case.
      await delay(1_000 - (Date.now() % 1_000))
      await controlOf(bluesky).revoke(old.did)
      expect(await get(old.accessJwt)).toMatchObject({ status: 400, body: { error: 'ExpiredToken' } })
      const refresh = await fetch(`${bluesky.url}/xrpc/com.atproto.server.refreshSession`, {
        method: 'POST',
        headers: { authorization: `Bearer ${old.refreshJwt}` },
      })
      expect([refresh.status, await refresh.json()]).toMatchObject([400, { error: 'ExpiredToken' }])
      expect((await get(session.accessJwt)).status).toBe(200)
      expect((await get((await logIn(bluesky, other)).accessJwt)).status).toBe(200)
      await expect(controlOf(bluesky).revoke('nobody.test')).rejects.toThrow('404')
    })

    it('expiring an account ends its access tokens, and its sessions can be renewed', async () => {
      const old = await logIn(bluesky, newHandle())
      const get = (token: string) => xrpcOf(bluesky.url)('com.atproto.server.getSession', { token })
      await controlOf(bluesky).expire(old.did)
      expect(await get(old.accessJwt)).toMatchObject({ status: 400, body: { error: 'ExpiredToken' } })
      const refresh = await fetch(`${bluesky.url}/xrpc/com.atproto.server.refreshSession`, {
        method: 'POST',
        headers: { authorization: `Bearer ${old.refreshJwt}` },
      })
      expect((await get(((await refresh.json()) as SessionView).accessJwt)).status).toBe(200)
      await expect(controlOf(bluesky).expire('nobody.test')).rejects.toThrow('404')
    })

    it('a reset removes the faults, the logged requests and the posts of existing accounts', async () => {
      await writePost(bluesky, session, 'before the reset')
      await controlOf(bluesky).addFault({ path: 'getSession', action: { status: 503 } })
      await bluesky.reset()
      expect(await controlOf(bluesky).requests()).toEqual([])
      expect(await textsOf(bluesky)).toEqual([])
      const call = xrpcOf(bluesky.url)
      expect((await call('com.atproto.server.getSession', { token: session.accessJwt })).status).toBe(200)
      await writePost(bluesky, await logIn(bluesky, newHandle()), 'after the reset')
      expect(await textsOf(bluesky)).toEqual(['after the reset'])
    })
  })
})
