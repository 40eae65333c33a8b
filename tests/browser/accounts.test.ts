import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, type IdentitySandbox } from '../../sandbox/services/identity.ts'
import { startMailCatcher } from '../../sandbox/services/mail.ts'
import { buildIdentityCallbackUrl } from '../../src/domain/users/identity-login.ts'
import { newNotification } from '../support/notifications.ts'
import { unique } from '../support/servers.ts'
import {
  logIn,
  openMail,
  press,
  readCode,
  startBrowserWorld,
  untilSignedIn,
  untilSignedOut,
  type BrowserWorld,
} from './world.ts'

/** Registration and login in a browser: pages of the console, the caught mails, and the identity provider's page. */

let mails: Awaited<ReturnType<typeof startMailCatcher>>
let google: IdentitySandbox
let world: BrowserWorld
let callbackUrl: string

beforeAll(async () => {
  ;[mails, google] = await Promise.all([startMailCatcher(), startIdentity()])
  world = await startBrowserWorld((url) => ({ WORKER_QUEUES: 'notifying', ...mails.env(), ...google.env(url) }))
  callbackUrl = buildIdentityCallbackUrl(world.url)
})

afterAll(async () => {
  await world?.stop()
  await google?.stop()
  await mails?.stop()
})

const collectionOf = (name: string) => world.service.context.database.connection.collection(name)
const newAddress = () => `${unique('p')}@example.test`

async function visitor(path = '/', timezoneId = 'Europe/Berlin'): Promise<Page> {
  const page = await world.visit(path, { timezoneId })
  if (path === '/') await untilSignedOut(page)
  return page
}

describe('accounts in a browser', () => {
  it('a user registers with the code of a mail and stays signed in after a reload', async () => {
    const page = await visitor('/register')
    const email = newAddress()
    await page.getByLabel('Email address').fill(email)
    await press(page, 'Send me a code')
    const mail = await openMail(page, mails, email)
    const code = await readCode(mail)
    expect(await mail.frameLocator('iframe').locator('body').innerText()).toContain(code)

    await page.getByLabel('Digit 1').click()
    await page.keyboard.type(code === '000000' ? '111111' : '000000')
    await page.getByRole('alert').waitFor()
    for (let digit = 1; digit <= 6; digit++) await page.getByLabel(`Digit ${digit}`).fill(code[digit - 1]!)
    await page.getByLabel('Your name').fill('Ann Other')
    await page.getByLabel(/^Password/).fill(unique('password'))
    await press(page, 'Create the account')
    await untilSignedIn(page, 'Ann Other')
    // A new user is led to the first account.
    await page.getByRole('heading', { name: 'Two steps to your first post' }).waitFor()
    expect(await collectionOf('users').findOne({ email })).toMatchObject({ timezone: 'Europe/Berlin' })
    await page.reload()
    await untilSignedIn(page, 'Ann Other')
  })

  it('a user sets a new password with the link of a mail, which works once', async () => {
    const { secrets } = await world.service.logIn()
    const { email, password } = secrets
    const page = await visitor('/forgot-password')
    await page.getByLabel('Email address').fill(email)
    await press(page, 'Send me a link')
    await page.getByText('a mail with a link is on its way').waitFor()
    const reset = await openMail(page, mails, email)
    const inHtml = await reset.frameLocator('iframe').getByRole('link').getAttribute('href')
    const link = await reset.getAttribute('pre a', 'href')
    expect(inHtml).toBe(link)
    await reset.click('pre a')
    await reset.waitForURL(`${world.url}/reset-password?*`)
    const newPassword = unique('password')
    await reset.getByLabel(`New password of ${email}`).fill(newPassword)
    await press(reset, 'Set the password')
    await reset.getByText('The new password is set').waitFor()
    await reset.getByRole('link', { name: 'Log in' }).click()
    await reset.getByLabel('Email address').fill(email)
    await reset.getByLabel(/^Password/).fill(password)
    await press(reset, 'Log in')
    // A refused form keeps what was typed.
    await reset.getByRole('alert').waitFor()
    expect(await reset.getByLabel('Email address').inputValue()).toBe(email)
    await logIn(reset, { email, password: newPassword })

    const again = await visitor('/login')
    await again.goto(link!)
    await again.getByLabel(`New password of ${email}`).fill(unique('password'))
    await press(again, 'Set the password')
    await again.getByRole('alert').waitFor()
  })

  it('a visitor who opens a page is led to it after the login', async () => {
    const { page } = await world.newUser('/settings/security?from=mail')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/security')
  })

  it('the list of notifications has one entry per post, with its problems in sight', async () => {
    const { page, userId } = await world.newUser('/notifications')
    await page.getByText('New ones appear as they happen.').waitFor()
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
    const list = page.getByRole('main').locator('ul > li')
    await list.filter({ hasText: 'About another post' }).waitFor()
    await list.getByText('Posting on Threads failed').waitFor()
    expect(await list.allInnerTexts()).toEqual([
      expect.stringContaining('About another post'),
      expect.stringMatching(/Posted on mastodon.*2 more about this post.*Threads failed.*was created/s),
    ])
    // A problem also appears on top of every page.
    await page.getByRole('alert').filter({ hasText: 'Posting on Threads failed' }).waitFor()
    await page.getByRole('link', { name: 'Notifications, 4 unread' }).waitFor()
    await press(page, 'Mark all as read')
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
  })

  it('a page whose session ended elsewhere asks for the password and keeps what was typed', async () => {
    const { page, secrets, call } = await world.newUser('/settings')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ann Renamed')
    expect((await call('DELETE', '/api/auth/logout/all')).status).toBe(200)
    const dialog = page.getByRole('dialog', { name: 'Log in again' })
    await dialog.waitFor()
    await dialog.getByLabel(/^Password/).fill(secrets.password)
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Ann Renamed')
    await press(page, 'Save')
    await untilSignedIn(page, 'Ann Renamed')
  })

  it('a user who logs out is signed out after a reload as well', async () => {
    const { page } = await world.newUser()
    await page.getByRole('button', { name: /^Your account/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await untilSignedOut(page)
    await page.reload()
    await untilSignedOut(page)
  })
})

/** Starts a login with Google and leaves the provider's page open. */
async function beginWithGoogle(): Promise<Page> {
  const page = await visitor()
  await openGoogle(page)
  return page
}

async function openGoogle(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Log in with Google' }).click()
  await page.waitForSelector('button[value=allow]')
  expect(new URL(page.url()).origin).toBe(google.url)
}

async function chooseNew(page: Page, fields: { email: string; name: string }): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#new [name=${name}]`, value)
}

const allowNew = (page: Page) => page.press('#new [name=name]', 'Enter')
const allow = (page: Page) => page.click('button[value=allow]')

describe('Google login in a browser', () => {
  it('a user who allows access gets an account, and the same one the next time', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Google' })
    await allowNew(page)
    await untilSignedIn(page, 'Ann Google')
    // The token is not left in the address.
    expect(page.url()).toBe(`${world.url}/`)
    await page.reload()
    await untilSignedIn(page, 'Ann Google')

    const again = await beginWithGoogle()
    await again.selectOption('select[name=account]', { label: `Ann Google <${email}>` })
    await allow(again)
    await untilSignedIn(again, 'Ann Google')
    const users = await collectionOf('users').find({ name: 'Ann Google' }).toArray()
    expect(users.map(({ timezone }): unknown => timezone)).toEqual(['Europe/Berlin'])
  })

  it('a user who denies access sees the reason on the login page', async () => {
    const page = await beginWithGoogle()
    await page.click('button[value=deny]')
    await page.getByText('The login with Google did not succeed').waitFor()
    await untilSignedOut(page)
  })

  it('two users can share a browser', async () => {
    const page = await beginWithGoogle()
    await chooseNew(page, { email: newAddress(), name: 'Ann First' })
    await allowNew(page)
    await untilSignedIn(page, 'Ann First')
    await page.getByRole('button', { name: /^Your account/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await untilSignedOut(page)
    await openGoogle(page)
    await chooseNew(page, { email: newAddress(), name: 'Bob Second' })
    await allowNew(page)
    await untilSignedIn(page, 'Bob Second')
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
    await victim.getByText('was begun in another browser').waitFor()
    await untilSignedOut(victim)

    await page.unroute(`${callbackUrl}*`)
    await page.goto(callback.url())
    await untilSignedIn(page, 'Mallory')
  })

  it('a user who goes back stays signed in and is not signed in twice', async () => {
    const page = await beginWithGoogle()
    const email = newAddress()
    await chooseNew(page, { email, name: 'Ann Back' })
    const [callback] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(callbackUrl)),
      allowNew(page),
    ])
    await untilSignedIn(page, 'Ann Back')
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(google.url)
    await page.goForward()
    await untilSignedIn(page, 'Ann Back')
    await page.goto(callback.url())
    await untilSignedIn(page, 'Ann Back')
    const user = await world.service.context.users.findByEmail(email)
    expect(await collectionOf('sessions').countDocuments({ userId: user!._id })).toBe(1)
  })
})

it('the pages of the login and of notifications leave no error in the log of the browser', () => {
  expect(world.problems).toEqual([])
})
