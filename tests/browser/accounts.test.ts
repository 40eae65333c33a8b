import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, type IdentitySandbox } from '../../sandbox/services/identity.ts'
import { startMailCatcher } from '../../sandbox/services/mail.ts'
import { buildIdentityCallbackUrl } from '../../src/domain/users/identity-login.ts'
import { newNotification } from '../support/notifications.ts'
import { unique } from '../support/servers.ts'
import { giveDemo } from './analytics.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

/** Registration and login in a browser: pages of the frontend, the caught mails, and the identity provider's page. */

let mails: Awaited<ReturnType<typeof startMailCatcher>>
let google: IdentitySandbox
let world: BrowserWorld
let callbackUrl: string

beforeAll(async () => {
  ;[mails, google] = await Promise.all([startMailCatcher(), startIdentity()])
  world = await startBrowserWorld((publicUrl) => ({
    WORKER_QUEUES: 'notifying',
    ...mails.env(),
    ...google.env(publicUrl),
  }))
  callbackUrl = buildIdentityCallbackUrl(world.publicUrl)
})

afterAll(async () => {
  await world?.stop()
  await google?.stop()
  await mails?.stop()
})

const collectionOf = (name: string) => world.service.context.database.connection.collection(name)
const newAddress = () => `${unique('p')}@example.test`

async function visitor(): Promise<Page> {
  const page = await world.visit()
  await untilHeaderShows(page, 'Not signed in')
  return page
}

const untilHeaderShows = (page: Page, who: string) => page.waitForSelector(`#who:has-text("${who}")`)

/** Fills in and sends the form, and waits for the response. */
async function send(page: Page, form: string, fields: Record<string, string>, answer: string): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, value)
  await page.click(`#${form} button`)
  await page.waitForSelector(`#answer:has-text("${answer}")`)
}

/** Opens the mail to this address in another tab, as soon as it has arrived. */
async function openMail(page: Page, address: string): Promise<Page> {
  await mails.mails.until(address)
  const reader = await page.context().newPage()
  await reader.goto(mails.url)
  await reader.click(`li:has-text("${address}") a`)
  return reader
}

describe('accounts in a browser', () => {
  it('a user registers with the code of a mail and stays signed in after a reload', async () => {
    const page = await visitor()
    const email = newAddress()
    await send(page, 'code', { email }, '201')
    const mail = await openMail(page, email)
    const code = /\b\d{6}\b/.exec(await mail.innerText('pre'))![0]
    expect(await mail.frameLocator('iframe').locator('body').innerText()).toContain(code)

    await send(page, 'verify', { email, otp: code === '000000' ? '111111' : '000000' }, '400')
    await send(page, 'verify', { email, otp: code }, '200')
    const password = unique('password')
    await send(page, 'signup', { email, name: 'Ann Other', password, confirmPassword: password }, '200')
    await untilHeaderShows(page, 'Ann Other')
    await page.reload()
    await untilHeaderShows(page, 'Ann Other')
  })

  it('a user sets a new password with the link of a mail, which works once', async () => {
    const { secrets } = await world.service.logIn()
    const { email, password } = secrets
    const page = await visitor()
    await send(page, 'forgot', { email }, '200')
    const reset = await openMail(page, email)
    const inHtml = await reset.frameLocator('iframe').getByRole('link').getAttribute('href')
    expect(inHtml).toBe(await reset.getAttribute('pre a', 'href'))
    await reset.click('pre a')
    await reset.waitForURL(`${world.frontend.url}/reset-password?*`)
    await untilHeaderShows(reset, 'Not signed in')
    const newPassword = unique('password')
    await send(reset, 'reset', { password: newPassword }, '200')
    await send(page, 'login', { email, password }, '401')
    await send(page, 'login', { email, password: newPassword }, '200')
    await untilHeaderShows(page, 'Test User')
    await send(reset, 'reset', { password: unique('password') }, '400')
  })

  it('the list of notifications has one entry per post, with its problems in sight', async () => {
    const { page, userId } = await world.newUser()
    await page.waitForSelector('#live:text-is("live")')
    const { notifications } = world.service.context
    const reference = { type: 'post', id: unique('post'), model: 'Post' }
    const ofPost = [
      ['success', 'The post was created'],
      ['error', 'Posting on Threads failed'],
      ['success', 'Posted on mastodon'],
    ] as const
    for (const [type, message] of ofPost) {
      await notifications.insertOnce(newNotification(userId, { type, message, reference }))
    }
    await notifications.insertOnce(newNotification(userId, { message: 'About another post' }))
    await page.waitForSelector('#notifications > li:has-text("About another post")')
    const entries = await page.locator('#notifications > li').allInnerTexts()
    expect(entries).toEqual([
      expect.stringContaining('About another post'),
      expect.stringMatching(/Posted on mastodon.*2 more about this post.*Threads failed.*was created/s),
    ])
    expect(await page.textContent('#unread')).toBe('4 unread')
  })

  it('an open page receives notifications until its session ends elsewhere', async () => {
    const { userId, secrets, call } = await world.service.logIn()
    const { email, password } = secrets
    const page = await visitor()
    await send(page, 'login', { email, password }, '200')
    await page.waitForSelector('#live:text-is("live")')
    await world.service.context.notifications.insertOnce(newNotification(userId, { message: 'News for Ann' }))
    await page.waitForSelector('#notifications li.unread:has-text("News for Ann")')
    expect((await call('DELETE', '/api/auth/logout/all')).status).toBe(200)
    await page.waitForSelector('#live:text-is("offline")')
    await untilHeaderShows(page, 'Not signed in')
  })
})

/** Starts a login with Google and leaves the provider's page open. */
async function beginWithGoogle(): Promise<Page> {
  const page = await visitor()
  await page.click('#google')
  await page.waitForSelector('button[value=allow]')
  expect(new URL(page.url()).origin).toBe(google.url)
  return page
}

async function chooseNew(page: Page, fields: { email: string; name: string }): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#new [name=${name}]`, value)
}

const allowNew = (page: Page) => page.press('#new [name=name]', 'Enter')
const allow = (page: Page) => page.click('button[value=allow]')
/** Whether the URL still shows the empty fragment depends on how the page was reached. */
const untilRefused = (page: Page, error: string) =>
  page.waitForURL(({ href }) => href.replace(/#$/, '') === `${world.frontend.url}/login?error=${error}`)

describe('Google login in a browser', () => {
  it('a user who allows access gets an account, and the same one the next time', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Google' })
    await allowNew(page)
    await page.waitForURL(`${world.frontend.url}/auth/callback*`)
    await untilHeaderShows(page, 'Ann Google')
    await page.goto(`${world.frontend.url}/`)
    await untilHeaderShows(page, 'Ann Google')

    const again = await beginWithGoogle()
    await again.selectOption('select[name=account]', { label: `Ann Google <${email}>` })
    await allow(again)
    await untilHeaderShows(again, 'Ann Google')
    expect(await collectionOf('users').countDocuments({ name: 'Ann Google' })).toBe(1)
  })

  it('a user who denies access sees the reason on the login page', async () => {
    const page = await beginWithGoogle()
    await page.click('button[value=deny]')
    await untilRefused(page, 'google_auth_failed')
    await untilHeaderShows(page, 'Not signed in')
  })

  it('two users can share a browser', async () => {
    const page = await beginWithGoogle()
    await chooseNew(page, { email: newAddress(), name: 'Ann First' })
    await allowNew(page)
    await untilHeaderShows(page, 'Ann First')
    await page.click('#google')
    await page.waitForSelector('button[value=allow]')
    await chooseNew(page, { email: newAddress(), name: 'Bob Second' })
    await allowNew(page)
    await untilHeaderShows(page, 'Bob Second')
  })

  it('a user who opens the callback of another browser is not signed in, and the other browser still is', async () => {
    const page = await beginWithGoogle()
    await chooseNew(page, { email: newAddress(), name: 'Mallory' })
    await page.route(`${callbackUrl}*`, (route) => route.abort())
    const [callback] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(callbackUrl)),
      allowNew(page),
    ])
    const victim = await visitor()
    await victim.goto(callback.url())
    await untilRefused(victim, 'session_expired')
    await untilHeaderShows(victim, 'Not signed in')

    await page.unroute(`${callbackUrl}*`)
    await page.goto(callback.url())
    await untilHeaderShows(page, 'Mallory')
  })

  it('a user who goes back stays signed in and is not signed in twice', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Back' })
    const [callback] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(callbackUrl)),
      allowNew(page),
    ])
    await untilHeaderShows(page, 'Ann Back')
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(google.url)
    await page.goForward()
    await untilHeaderShows(page, 'Ann Back')
    await page.goto(callback.url())
    await untilRefused(page, 'session_expired')
    await untilHeaderShows(page, 'Ann Back')
    const user = await world.service.context.users.findByEmail(email)
    expect(await collectionOf('sessions').countDocuments({ userId: user!._id })).toBe(1)
  })
})

it('the sandbox shows the performance of posts in charts that all contain data', async () => {
  const { page, userId } = await world.newUser()
  const { context } = world.service
  await giveDemo(context, userId)
  await page.reload()
  // Each chart is drawn when its data has arrived.
  const charts = ['#figures dd', '#timeline svg', '#growth svg', '#top button', '#by-platform table', '#heatmap table']
  for (const chart of charts) await page.waitForSelector(chart)
  expect(await page.innerText('#analytics')).toContain('sample data')
  const count = (selector: string) => page.locator(`#analytics ${selector}`).count()
  expect(await count('#figures dd:text-matches("[1-9]")')).toBeGreaterThanOrEqual(6)
  expect(await count('#timeline svg[aria-label*="the most on"] rect:not([height="0"])')).toBeGreaterThan(30)
  expect(await count('#timeline details td:text-matches("[1-9]")')).toBeGreaterThan(30)
  expect(await count('#growth svg[aria-label] polyline')).toBe(6)
  expect(await count('#top li button')).toBe(5)
  expect(await count('#by-platform tbody tr')).toBe(6)
  expect(await count('.heat tbody td')).toBe(168)
  expect(await count('.heat td:not(.shade-0)')).toBeGreaterThan(8)

  // Only one platform reports it.
  await page.selectOption('#rank', 'reach')
  for (let place = 1; place <= 5; place++)
    await page.waitForSelector(`#top li:nth-child(${place}) b:has-text("instagram")`)
  await page.check('#period [value="7d"]')
  await page.waitForSelector('#timeline svg g:nth-of-type(7):last-of-type')

  await context.limits.analyticsRefresh.take(userId)
  await page.click('#top li button')
  await page.waitForSelector('#top li [role=status]:text-matches("Try again in 1[45] min")')
})
