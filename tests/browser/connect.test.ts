import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../sandbox/platforms/mastodon.ts'
import { startTumblr, type Tumblr } from '../../sandbox/platforms/tumblr.ts'
import { buildCallbackUrl } from '../../src/domain/accounts/platform-connect.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import { unique } from '../support/servers.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

/**
 * Connecting in a browser: a page of the frontend, the platform's page on another site, and the callback. Sec-Fetch
 * headers and cookies are those of a real browser.
 */

let mastodon: Mastodon
/** A server that users name. */
let second: Mastodon
let tumblr: Tumblr
let world: BrowserWorld
let platforms: Record<'mastodon' | 'tumblr', Connectable>

interface Connectable {
  control: Control
  /** The call that exchanges the parameters of the callback. */
  exchange: string
  newAccount(): { name: string; loginId: string }
}

beforeAll(async () => {
  ;[mastodon, second, tumblr] = await Promise.all([
    startMastodon(),
    startMastodon({ honoursKeys: false, namesApplication: false }),
    startTumblr(),
  ])
  world = await startBrowserWorld((publicUrl) => {
    const mastodonApp = mastodon.createApp({
      name: 'postonce',
      redirectUris: [buildCallbackUrl(publicUrl, 'mastodon')],
    })
    const tumblrApp = tumblr.createApp({ name: 'postonce', callbackUrl: buildCallbackUrl(publicUrl, 'tumblr') })
    return {
      MASTODON_INSTANCE_URL: mastodon.url,
      MASTODON_CLIENT_ID: mastodonApp.clientId,
      MASTODON_CLIENT_SECRET: mastodonApp.clientSecret,
      ALLOWED_PRIVATE_SERVERS: second.url,
      TUMBLR_CONSUMER_KEY: tumblrApp.consumerKey,
      TUMBLR_CONSUMER_SECRET: tumblrApp.consumerSecret,
      TUMBLR_AUTHORIZE_URL: tumblr.url,
      TUMBLR_API_URL: tumblr.url,
    }
  })
  const newName = () => unique('p').replace(/\W/g, '')
  platforms = {
    mastodon: {
      control: controlOf(mastodon.control),
      exchange: '/oauth/token',
      newAccount() {
        const { id, username } = mastodon.createAccount({ username: newName() })
        return { name: `@${username}`, loginId: id }
      },
    },
    tumblr: {
      control: controlOf(tumblr.control),
      exchange: '/oauth/access_token',
      newAccount: () => tumblr.createAccount({ name: newName() }),
    },
  }
})

afterAll(async () => {
  await world?.stop()
  await Promise.all([tumblr, second, mastodon].map((server) => server?.stop()))
})

/** A user with a separate browser, signed in on the frontend. */
async function newUser() {
  const { page, userId } = await world.newUser('/settings')

  return {
    page,
    stored: (platform: 'mastodon' | 'tumblr') => world.service.context.accounts.findDefault(userId, platform),
    /** Starts to connect and leaves the platform's page open. */
    async begin(platform: 'mastodon' | 'tumblr') {
      await page.click(`button[value=${platform}]`)
      await page.waitForSelector('button[value=allow]')
    },
  }
}

/** Chooses the account, presses the button, and returns the result on the settings page. */
async function decide(page: Page, name: string, decision: 'allow' | 'deny'): Promise<string> {
  await page.selectOption('select[name=account]', { label: name })
  await page.click(`button[value=${decision}]`)
  await page.waitForURL(`${world.frontend.url}/settings?*`)
  return (await page.textContent('#outcome')) ?? ''
}

const exchanges = async (platform: 'mastodon' | 'tumblr') => {
  const { control, exchange } = platforms[platform]
  return (await control.requests()).filter(({ path }) => path === exchange).length
}

describe.each(['mastodon', 'tumblr'] as const)('in a browser, %s', (platform) => {
  it('a platform is connected when the user allows it, and then shows published posts', async () => {
    const { page, begin, stored } = await newUser()
    const { name } = platforms[platform].newAccount()
    await begin(platform)
    expect(new URL(page.url()).pathname).toBe('/oauth/authorize')
    expect(await decide(page, name, 'allow')).toBe(`?success=${platform}_connected`)
    expect(await stored(platform)).not.toBeNull()

    await page.waitForSelector('#live:text-is("live")')
    const text = `Published from a browser, ${unique('post')}`
    await page.check(`[name=on][value=${platform}]`)
    await page.fill('#post [name=text]', text)
    await page.click('#post button')
    // It arrives without a reload, as soon as the platform has the post.
    const notification = page.locator('#notifications li', { hasText: `Successfully posted on ${platform}` })
    await page.goto((await notification.getByRole('link').getAttribute('href'))!)
    expect(await page.textContent('article')).toContain(text)
    await page.goto(new URL(page.url()).origin)
    expect(await page.textContent('article:first-of-type')).toContain(text)
  })

  it('a platform is not connected when the user denies it', async () => {
    const { page, begin, stored } = await newUser()
    const { name } = platforms[platform].newAccount()
    const before = await exchanges(platform)
    await begin(platform)
    expect(await decide(page, name, 'deny')).toBe(`?error=${platform}_auth_failed&reason=DENIED`)
    expect(await exchanges(platform)).toBe(before)
    expect(await stored(platform)).toBeNull()
  })

  it('a platform is connected only in the browser that started it', async () => {
    const { page, begin, stored } = await newUser()
    const { name } = platforms[platform].newAccount()
    await begin(platform)
    const before = await exchanges(platform)
    const victim = await world.visit()
    await victim.goto(page.url())
    await victim.selectOption('select[name=account]', { label: name })
    const [callback] = await Promise.all([
      victim.waitForRequest((request) => request.url().startsWith(buildCallbackUrl(world.publicUrl, platform))),
      victim.click('button[value=allow]'),
    ])
    await victim.waitForURL(`${world.frontend.url}/settings?*`)
    expect(new URL(victim.url()).search).toBe(`?error=${platform}_state_invalid&reason=ATTEMPT_INVALID`)
    expect(await exchanges(platform)).toBe(before)
    expect(await stored(platform)).toBeNull()

    await page.goto(callback.url())
    await page.waitForURL(`${world.frontend.url}/settings?*`)
    expect(await page.textContent('#outcome')).toBe(`?success=${platform}_connected`)
    expect(await stored(platform)).not.toBeNull()
  })

  it('a platform is not connected by a link that an API client created', async () => {
    const { stored, page } = await newUser()
    const { name } = platforms[platform].newAccount()
    const { call: request, userId } = await world.service.logIn()
    const { body } = await request('GET', `/api/platform/${platform}/connect`)
    const before = await exchanges(platform)
    await page.goto(body.data.authUrl)
    expect(await decide(page, name, 'allow')).toBe(`?error=${platform}_state_invalid&reason=ATTEMPT_INVALID`)
    expect(await exchanges(platform)).toBe(before)
    expect(await stored(platform)).toBeNull()
    expect(await world.service.context.accounts.findDefault(userId, platform)).toBeNull()
  })
})

it('in a browser, a user who owns no account on a platform creates one on its page and connects it', async () => {
  const { page, begin, stored } = await newUser()
  const { name: taken } = platforms.mastodon.newAccount()
  await begin('mastodon')
  const name = unique('p').replace(/\W/g, '')
  await page.fill('#new [name=name]', name)
  await page.press('#new [name=name]', 'Enter')
  await page.waitForURL(`${world.frontend.url}/settings?*`)
  expect(await page.textContent('#outcome')).toBe('?success=mastodon_connected')
  expect((await stored('mastodon'))?.profile.handle).toContain(name)

  const other = await newUser()
  await other.begin('mastodon')
  const offered = await other.page.locator('select[name=account] option').allTextContents()
  expect(offered).toEqual(expect.arrayContaining([taken, `@${name}`]))
  expect(await decide(other.page, taken, 'allow')).toBe('?success=mastodon_connected')
})

describe('in a browser, several accounts of a platform', () => {
  /** A user with an account on the default Mastodon server and one on another server. */
  async function withTwoAccounts() {
    const { page, begin } = await newUser()
    const username = unique('p').replace(/\W/g, '')
    for (const server of [mastodon, second]) {
      server.createAccount({ username })
      await page.fill('#add-mastodon [name=instance]', server === second ? server.url : '')
      await begin('mastodon')
      expect(new URL(page.url()).origin).toBe(server.url)
      expect(await decide(page, `@${username}`, 'allow')).toBe('?success=mastodon_connected')
    }
    const [home, brand] = [mastodon, second].map(({ url }) => `${username}@${new URL(url).host}`) as [string, string]
    await item(page, brand).waitFor()
    return { page, username, home, brand }
  }

  const item = (page: Page, name: string) => page.locator('#accounts li', { hasText: name })
  const option = (page: Page, name: string) => page.locator('#on label', { hasText: name }).locator('input')

  it('a user publishes to two accounts of a platform and sees the outcome of each', async () => {
    const { page, username, home, brand } = await withTwoAccounts()
    await page.waitForSelector('#live:text-is("live")')
    expect([await option(page, home).isChecked(), await option(page, brand).isChecked()]).toEqual([true, false])
    await option(page, brand).check()
    const text = `For two accounts, ${unique('post')}`
    await page.fill('#post [name=text]', text)
    await page.click('#post button')
    const post = page.locator('#posts > li', { hasText: text })
    for (const [name, { url }] of [[home, mastodon] as const, [brand, second] as const]) {
      const address = await post.getByRole('link', { name }).getAttribute('href')
      expect(address).toContain(`${url}/@${username}/`)
    }
    for (const { control } of [mastodon, second]) {
      const texts = (await controlOf(control).ledger()).map((entry) => entry.text)
      expect(texts.filter((one) => one === text)).toHaveLength(1)
    }
  })

  it('a user makes another account the default and disconnects the earlier one', async () => {
    const { page, home, brand } = await withTwoAccounts()
    const tagOf = (name: string) => item(page, name).locator('.tag')
    expect([await tagOf(home).innerText(), await tagOf(brand).count()]).toEqual(['default', 0])
    await item(page, brand).getByRole('button', { name: 'Make default' }).click()
    await tagOf(brand).waitFor()
    expect(await tagOf(home).count()).toBe(0)
    expect(await option(page, brand).getAttribute('value')).toBe('mastodon')
    await item(page, home).getByRole('button', { name: 'Disconnect' }).click()
    await item(page, home).waitFor({ state: 'detached' })
    expect(await page.locator('#accounts li').count()).toBe(1)
  })
})
