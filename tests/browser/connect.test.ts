import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../sandbox/platforms/mastodon.ts'
import { startTumblr, type Tumblr } from '../../sandbox/platforms/tumblr.ts'
import { buildCallbackUrl } from '../../src/domain/accounts/platform-connect.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import { unique } from '../support/servers.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

/**
 * Connecting in a browser: a page of the console, the platform's page on another site, and the callback. Sec-Fetch
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
  world = await startBrowserWorld((url) => {
    const mastodonApp = mastodon.createApp({
      name: 'postonce',
      redirectUris: [buildCallbackUrl(url, 'mastodon')],
    })
    const tumblrApp = tumblr.createApp({ name: 'postonce', callbackUrl: buildCallbackUrl(url, 'tumblr') })
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

/** A user with a separate browser, signed in on the console. */
async function newUser() {
  const { page, userId } = await world.newUser('/accounts')

  return {
    page,
    stored: (platform: 'mastodon' | 'tumblr') => world.service.context.accounts.findDefault(userId, platform),
    /** Starts to connect, on a server that is named or the default one, and leaves the platform's page open. */
    async begin(platform: 'mastodon' | 'tumblr', server = '') {
      await page.getByRole('button', { name: 'Connect an account' }).first().click()
      await page.getByRole('menuitem', { name: NAMES[platform] }).click()
      if (platform === 'mastodon') {
        await page.getByLabel('Server').fill(server)
        await page.getByRole('button', { name: 'Continue on the server' }).click()
      }
      await page.waitForSelector('button[value=allow]')
    },
  }
}

const NAMES = { mastodon: 'Mastodon', tumblr: 'Tumblr' }
const connected = (platform: keyof typeof NAMES) => `${NAMES[platform]} is connected`
const notConnected = (platform: keyof typeof NAMES) => `${NAMES[platform]} was not connected`

/** Chooses the account, presses the button, and returns the result on the console's page. */
async function decide(page: Page, name: string, decision: 'allow' | 'deny'): Promise<string> {
  await page.selectOption('select[name=account]', { label: name })
  await page.click(`button[value=${decision}]`)
  return outcomeOn(page)
}

async function outcomeOn(page: Page): Promise<string> {
  // The callback leads to /settings, by the specification, and the console on to the accounts.
  await page.waitForURL(`${world.url}/accounts?*`)
  return page.getByRole('alert').first().innerText()
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
    expect(await decide(page, name, 'allow')).toContain(connected(platform))
    expect(await stored(platform)).not.toBeNull()

    const text = `Published from a browser, ${unique('post')}`
    await publish(page, text)
    // It arrives without a reload, as soon as the platform has the post.
    const link = page.getByRole('link', { name: 'Open the post' })
    await page.goto((await link.getAttribute('href'))!)
    expect(await page.textContent('article')).toContain(text)
    await page.goto(new URL(page.url()).origin)
    expect(await page.textContent('article:first-of-type')).toContain(text)
  })

  it('a platform is not connected when the user denies it', async () => {
    const { page, begin, stored } = await newUser()
    const { name } = platforms[platform].newAccount()
    const before = await exchanges(platform)
    await begin(platform)
    expect(await decide(page, name, 'deny')).toContain('You did not allow it')
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
      victim.waitForRequest((request) => request.url().startsWith(buildCallbackUrl(world.url, platform))),
      victim.click('button[value=allow]'),
    ])
    await victim.waitForURL(`${world.url}/login?*`)
    expect(await exchanges(platform)).toBe(before)
    expect(await stored(platform)).toBeNull()

    await page.goto(callback.url())
    expect(await outcomeOn(page)).toContain(connected(platform))
    expect(await stored(platform)).not.toBeNull()
  })

  it('a platform is not connected by a link that an API client created', async () => {
    const { stored, page } = await newUser()
    const { name } = platforms[platform].newAccount()
    const { call: request, userId } = await world.service.logIn()
    const { body } = await request('GET', `/api/platform/${platform}/connect`)
    const before = await exchanges(platform)
    await page.goto(body.data.authUrl)
    expect(await decide(page, name, 'allow')).toContain(notConnected(platform))
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
  expect(await outcomeOn(page)).toContain(connected('mastodon'))
  expect((await stored('mastodon'))?.profile.handle).toContain(name)

  const other = await newUser()
  await other.begin('mastodon')
  const offered = await other.page.locator('select[name=account] option').allTextContents()
  expect(offered).toEqual(expect.arrayContaining([taken, `@${name}`]))
  expect(await decide(other.page, taken, 'allow')).toContain(connected('mastodon'))
})

describe('in a browser, several accounts of a platform', () => {
  /** A user with an account on the default Mastodon server and one on another server. */
  async function withTwoAccounts() {
    const { page, begin } = await newUser()
    const username = unique('p').replace(/\W/g, '')
    for (const server of [mastodon, second]) {
      server.createAccount({ username })
      await begin('mastodon', server === second ? server.url : '')
      expect(new URL(page.url()).origin).toBe(server.url)
      expect(await decide(page, `@${username}`, 'allow')).toContain(connected('mastodon'))
    }
    const [home, brand] = [mastodon, second].map(({ url }) => `${username}@${new URL(url).host}`) as [string, string]
    await item(page, brand).waitFor()
    return { page, username, home, brand }
  }

  const item = (page: Page, name: string) => page.getByRole('region', { name })

  it('a user publishes to two accounts of a platform and sees the outcome of each', async () => {
    const { page, username, brand } = await withTwoAccounts()
    const text = `For two accounts, ${unique('post')}`
    await publish(page, text, async () => {
      // Only default accounts are chosen at first.
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1)
      await page.getByRole('checkbox', { name: brand }).click()
    })
    const links = page.getByRole('link', { name: 'Open the post' })
    await links.nth(1).waitFor()
    const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    for (const { url, control } of [mastodon, second]) {
      expect(addresses).toContainEqual(expect.stringContaining(`${url}/@${username}/`))
      const texts = (await controlOf(control).ledger()).map((entry) => entry.text)
      expect(texts.filter((one) => one === text)).toHaveLength(1)
    }
  })

  it('a user makes another account the default and disconnects the earlier one', async () => {
    const { page, home, brand } = await withTwoAccounts()
    const act = async (name: string, action: string) => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
      // It fades, and its entries are those of the next menu.
      await page.getByRole('menu').waitFor({ state: 'detached' })
    }
    await item(page, home).getByText('default').waitFor()
    await act(brand, 'Make default')
    await item(page, brand).getByText('default').waitFor()
    expect(await item(page, home).getByText('default').count()).toBe(0)
    await act(home, 'Disconnect')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    await item(page, home).waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(1)
  })
})

it('the pages of accounts leave no error in the log of the browser', () => {
  expect(world.problems).toEqual([])
})

/** Writes a post for the default accounts, or those that `choose` chooses, and publishes it. */
async function publish(page: Page, text: string, choose: () => Promise<void> = async () => {}): Promise<void> {
  await page.getByRole('banner').getByRole('link', { name: 'New post' }).click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill(text)
  await choose()
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(`${world.url}/posts/*`)
}
