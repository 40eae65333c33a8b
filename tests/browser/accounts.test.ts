import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, type IdentitySandbox } from '../../sandbox/services/identity.ts'
import { startMailCatcher } from '../../sandbox/services/mail.ts'
import { buildIdentityCallbackUrl } from '../../src/domain/users/identity-login.ts'
import { newNotification } from '../support/notifications.ts'
import { unique } from '../support/servers.ts'
import { giveDemo } from './analytics.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

/** Accounts as people have them: a browser on pages of the frontend, the mails of the mail catcher, and the identity provider's own page. */

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
}, 300_000)

afterAll(async () => {
  await world?.stop()
  await google?.stop()
  await mails?.stop()
})

const collectionOf = (name: string) => world.service.context.database.connection.collection(name)
const newAddress = () => `${unique('p')}@example.test`

async function visitor(): Promise<Page> {
  const page = await world.visit()
  await isSomebody(page, 'nobody')
  return page
}

const isSomebody = (page: Page, who: string) => page.waitForSelector(`#who:has-text("${who}")`)

/** Fills the form in, sends it, and waits for the answer. */
async function send(page: Page, form: string, fields: Record<string, string>, answer: string): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, value)
  await page.click(`#${form} button`)
  await page.waitForSelector(`#answer:has-text("${answer}")`)
}

/** Opens the mail to this address, beside the page that is open, as soon as it is there. */
async function openMail(page: Page, address: string): Promise<Page> {
  await mails.mails.until(address)
  const reader = await page.context().newPage()
  await reader.goto(mails.url)
  await reader.click(`li:has-text("${address}") a`)
  return reader
}

describe('in a browser, somebody', () => {
  it('registers with the code of a mail, and is still there after the page is loaded again', async () => {
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
    await isSomebody(page, 'Ann Other')
    await page.reload()
    await isSomebody(page, 'Ann Other')
  })

  it('chooses a new password over the link of a mail, once', async () => {
    const { secrets } = await world.service.logIn()
    const { email, password } = secrets
    const page = await visitor()
    await send(page, 'forgot', { email }, '200')
    const reset = await openMail(page, email)
    const inHtml = await reset.frameLocator('iframe').getByRole('link').getAttribute('href')
    expect(inHtml).toBe(await reset.getAttribute('pre a', 'href'))
    await reset.click('pre a')
    await reset.waitForURL(`${world.frontend.url}/reset-password?*`)
    await isSomebody(reset, 'nobody')
    const newPassword = unique('password')
    await send(reset, 'reset', { password: newPassword }, '200')
    await send(page, 'login', { email, password }, '401')
    await send(page, 'login', { email, password: newPassword }, '200')
    await isSomebody(page, 'Test User')
    await send(reset, 'reset', { password: unique('password') }, '400')
  })

  it('hears of notifications while the page is open, until the session is ended elsewhere', async () => {
    const { userId, secrets, call } = await world.service.logIn()
    const { email, password } = secrets
    const page = await visitor()
    await send(page, 'login', { email, password }, '200')
    await page.waitForSelector('#live:text-is("live")')
    await world.service.context.notifications.insertOnce(newNotification(userId, { message: 'News for Ann' }))
    await page.waitForSelector('#notifications li.unread:has-text("News for Ann")')
    expect((await call('DELETE', '/api/auth/logout/all')).status).toBe(200)
    await page.waitForSelector('#live:text-is("not live")')
    await isSomebody(page, 'nobody')
  })
})

/** The page of the provider is open then. */
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
/** Whether the address still shows the empty fragment depends on how the page was reached. */
const untilRefused = (page: Page, error: string) =>
  page.waitForURL(({ href }) => href.replace(/#$/, '') === `${world.frontend.url}/login?error=${error}`)

describe('in a browser, with Google, somebody', () => {
  it('who allows it has an account, and the same one the next time', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Google' })
    await allowNew(page)
    await page.waitForURL(`${world.frontend.url}/auth/callback*`)
    await isSomebody(page, 'Ann Google')
    await page.goto(`${world.frontend.url}/`)
    await isSomebody(page, 'Ann Google')

    const again = await beginWithGoogle()
    await again.selectOption('select[name=account]', { label: `Ann Google <${email}>` })
    await allow(again)
    await isSomebody(again, 'Ann Google')
    expect(await collectionOf('users').countDocuments({ name: 'Ann Google' })).toBe(1)
  })

  it('who denies it is told so on the login page', async () => {
    const page = await beginWithGoogle()
    await page.click('button[value=deny]')
    await untilRefused(page, 'google_auth_failed')
    await isSomebody(page, 'nobody')
  })

  it('who shares a browser can be somebody else', async () => {
    const page = await beginWithGoogle()
    await chooseNew(page, { email: newAddress(), name: 'Ann First' })
    await allowNew(page)
    await isSomebody(page, 'Ann First')
    await page.click('#google')
    await page.waitForSelector('button[value=allow]')
    await chooseNew(page, { email: newAddress(), name: 'Bob Second' })
    await allowNew(page)
    await isSomebody(page, 'Bob Second')
  })

  it('who opens the callback of another browser is nobody, and the other one still gets in', async () => {
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
    await isSomebody(victim, 'nobody')

    await page.unroute(`${callbackUrl}*`)
    await page.goto(callback.url())
    await isSomebody(page, 'Mallory')
  })

  it('who goes back stays logged in, and is logged in no second time', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Back' })
    const [callback] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(callbackUrl)),
      allowNew(page),
    ])
    await isSomebody(page, 'Ann Back')
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(google.url)
    await page.goForward()
    await isSomebody(page, 'Ann Back')
    await page.goto(callback.url())
    await untilRefused(page, 'session_expired')
    await isSomebody(page, 'Ann Back')
    const user = await world.service.context.users.findByEmail(email)
    expect(await collectionOf('sessions').countDocuments({ userId: user!._id })).toBe(1)
  })
})

it('in a browser, the sandbox shows somebody how their posts do, in charts that all have something in them', async () => {
  const { page, userId } = await world.someone()
  const { context } = world.service
  await giveDemo(context, userId)
  await page.reload()
  // Each is drawn when its figures are there.
  const charts = ['#figures dd', '#timeline svg', '#growth svg', '#top button', '#by-platform table', '#heatmap table']
  for (const chart of charts) await page.waitForSelector(chart)
  expect(await page.innerText('#analytics')).toContain('made up')
  const count = (selector: string) => page.locator(`#analytics ${selector}`).count()
  expect(await count('#figures dd:text-matches("[1-9]")')).toBeGreaterThanOrEqual(6)
  expect(await count('#timeline svg[aria-label*="most of it on"] rect:not([height="0"])')).toBeGreaterThan(30)
  expect(await count('#timeline details td:text-matches("[1-9]")')).toBeGreaterThan(30)
  expect(await count('#growth svg[aria-label] polyline')).toBe(6)
  expect(await count('#top li button')).toBe(5)
  expect(await count('#by-platform tbody tr')).toBe(6)
  expect(await count('.heat tbody td')).toBe(168)
  expect(await count('.heat td:not(.shade-0)')).toBeGreaterThan(8)

  // Only one platform tells of it.
  await page.selectOption('#rank', 'reach')
  for (let place = 1; place <= 5; place++)
    await page.waitForSelector(`#top li:nth-child(${place}) b:has-text("instagram")`)
  await page.check('#period [value="7d"]')
  await page.waitForSelector('#timeline svg g:nth-of-type(7):last-of-type')

  await context.limits.analyticsRefresh.take(userId)
  await page.click('#top li button')
  await page.waitForSelector('#top li [role=status]:text-matches("again in 1[45] min")')
})
