import { describe, expect, it } from 'vitest'
import { startMastodon } from '../../sandbox/platforms/mastodon.ts'
import { startMeta } from '../../sandbox/platforms/meta.ts'
import { NEW_ACCOUNT } from '../../sandbox/platforms/shared/consent.ts'
import { startThreads } from '../../sandbox/platforms/threads.ts'
import { startTumblr } from '../../sandbox/platforms/tumblr.ts'
import { createSigner } from '../../src/platforms/tumblr/oauth1.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const REDIRECT_URI = 'https://api.example.test/callback'

/** A restarted simulator has the same address but none of the earlier connections. */
const NEW_CONNECTION = { connection: 'close' }

/** A running simulator, and how an application redirects a browser to its login page. */
interface Simulator {
  newLogin(): Promise<string>
  /** The URL of an account's picture, by the id on the login page. */
  pictureOf(accountId: string): string
  stop(): Promise<void>
}

const query = (clientId: string, scope: string) =>
  new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: REDIRECT_URI, scope })

async function mastodon(dir: string): Promise<Simulator> {
  const { url, createApp, stop } = await startMastodon({ dir })
  const { clientId } = createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  return {
    newLogin: async () => `${url}/oauth/authorize?${query(clientId, 'read:accounts')}`,
    pictureOf: (id) => `${url}/avatars/${id}.png`,
    stop,
  }
}

async function threads(dir: string): Promise<Simulator> {
  const { url, createApp, stop } = await startThreads({ dir })
  const { id } = createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  return {
    newLogin: async () => `${url}/oauth/authorize?${query(id, 'threads_basic')}`,
    pictureOf: (accountId) => `${url}/picture/${accountId}`,
    stop,
  }
}

async function tumblr(dir: string): Promise<Simulator> {
  const { url, createApp, stop } = await startTumblr({ dir })
  const { consumerKey, consumerSecret } = createApp({ name: 'postonce', callbackUrl: REDIRECT_URI })
  const sign = createSigner({ token: consumerKey, secret: consumerSecret })
  return {
    async newLogin() {
      const address = new URL(`${url}/oauth/request_token`)
      const authorization = sign({ method: 'POST', url: address, oauth: { oauth_callback: REDIRECT_URI } })
      const answer = await fetch(address, { method: 'POST', headers: { authorization, ...NEW_CONNECTION } })
      const token = new URLSearchParams(await answer.text()).get('oauth_token')!
      return `${url}/oauth/authorize?oauth_token=${token}`
    },
    pictureOf: () => `${url}/avatar.png`,
    stop,
  }
}

async function meta(dir: string): Promise<Simulator> {
  const { facebook, instagram, createApp, stop } = await startMeta({ dir })
  const { id } = createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  return {
    newLogin: async () => `${facebook.url}/v26.0/dialog/oauth?${query(id, 'pages_show_list')}`,
    pictureOf: (accountId) => `${instagram.url}/picture/${accountId}`,
    stop,
  }
}

async function allow(loginPage: string, fields: Record<string, string>) {
  const body = new URLSearchParams({ decision: 'allow', ...fields })
  const answer = await fetch(loginPage, { method: 'POST', body, redirect: 'manual', headers: NEW_CONNECTION })
  return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() }
}

const createAndAllow = (loginPage: string, name: string) => allow(loginPage, { account: NEW_ACCOUNT, name })

async function findOfferedId(loginPage: string, name: string): Promise<string | undefined> {
  const html = await (await fetch(loginPage)).text()
  return [...html.matchAll(/<option value="([^"]+)">([^<]+)</g)].find(([, , label]) => label!.includes(name))?.[1]
}

describe.each([
  { name: 'Mastodon', start: mastodon, bad: 'no spaces' },
  { name: 'Threads', start: threads, bad: 'no spaces' },
  { name: 'Tumblr', start: tumblr, bad: 'No-Capitals' },
  { name: 'Facebook', start: meta, bad: '!!!' },
])('the login page of $name', ({ start, bad }) => {
  it('the login page creates an account and still offers it with its picture after a restart', async () => {
    const dir = temporaryFolder()
    const first = await start(dir)
    const created = await createAndAllow(await first.newLogin(), ' newcomer ')
    expect(created.location).toMatch(/^https:\/\/api\.example\.test\/callback.*(code|oauth_verifier)=/)
    await first.stop()

    const second = await start(dir)
    try {
      const id = await findOfferedId(await second.newLogin(), 'newcomer')
      const chosen = await allow(await second.newLogin(), { account: id ?? '' })
      expect(chosen.location).toMatch(/(code|oauth_verifier)=/)
      const picture = await fetch(second.pictureOf(id ?? ''))
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
    } finally {
      await second.stop()
    }
  })

  it('the login page refuses a missing, malformed or used name and says why', async () => {
    const simulator = await start(temporaryFolder())
    try {
      await createAndAllow(await simulator.newLogin(), 'newcomer')
      const loginPage = await simulator.newLogin()
      for (const [name, problem] of [
        ['', 'Enter a name for the new account'],
        [bad, /name has/],
        ['newcomer', 'The name newcomer is in use'],
      ] as const) {
        const { status, text } = await createAndAllow(loginPage, name)
        expect(status).toBe(422)
        expect(text).toMatch(problem)
      }
    } finally {
      await simulator.stop()
    }
  })
})
