import type { BrowserContextOptions, Page } from 'playwright-core'
import { freePort } from '../../sandbox/servers/process.ts'
import type { startMailCatcher } from '../../sandbox/services/mail.ts'
import { buildConsole } from '../../scripts/build-console.ts'
import type { Config } from '../../src/config/schema.ts'
import { NO_LIMITS } from '../support/delivery-world.ts'
import { startServiceInProcess } from '../support/service-in-process.ts'
import { testContext, unique } from '../support/servers.ts'
import { startBrowser } from './browser.ts'

/** The browser reports refused requests and a missing network, which tests provoke, as errors, too. */
const PROVOKED = /^Failed to load resource|net::ERR_INTERNET_DISCONNECTED$/

/** The service in this process, which serves the console, and a browser. `settings` may depend on the service's address. */
export async function startBrowserWorld(settings: (url: string) => Partial<Config> = () => ({})) {
  // First, because not every machine has a browser.
  const browser = await startBrowser()
  const [port] = await Promise.all([freePort(), buildConsole()])
  const url = `http://localhost:${port}`
  const context = await testContext({
    ...NO_LIMITS,
    CONSOLE: 'on',
    PUBLIC_URL: url,
    FRONTEND_URL: url,
    ...settings(url),
  })
  const service = await startServiceInProcess(context)
  await service.app.listen({ host: '127.0.0.1', port })
  const problems: string[] = []

  return {
    url,
    service,
    /** What pages wrote into the browser's log as errors, and did not catch; with what the policy blocked. */
    problems,

    /** Opens a page in a separate browser. */
    async visit(path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const page = await browser.newPage(options)
      page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        const text = message.text()
        if (message.type() === 'error' && !PROVOKED.test(text)) problems.push(`${page.url()}: ${text}`)
      })
      await page.goto(`${url}${path}`)
      return page
    },

    /** Opens a page in a separate browser for a new user who is signed in. */
    async newUser(path = '/') {
      const { userId, secrets, call } = await service.logIn()
      const page = await this.visit(path)
      await logIn(page, secrets)
      return { page, userId, secrets, call }
    },

    async stop(): Promise<void> {
      await browser.stop()
      await service.stop()
    },
  }
}

export type BrowserWorld = Awaited<ReturnType<typeof startBrowserWorld>>

/** Fills in the form of the login, and waits for the page behind it. */
export async function logIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await untilSignedIn(page)
}

export const untilSignedIn = (page: Page, name = '') =>
  page.getByRole('button', { name: `Your account, ${name}` }).waitFor()

export const untilSignedOut = (page: Page) => page.getByRole('heading', { name: 'Log in' }).waitFor()

/** Opens a page of the console by its entry in the navigation. */
export const open = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

/** Presses the button of this name. */
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** The text of the post in the composer. */
export const textField = (page: Page) => page.getByRole('textbox', { name: 'Text', exact: true })

type Mails = Awaited<ReturnType<typeof startMailCatcher>>

/** Opens the mail to this address in another tab, as soon as it has arrived. */
export async function openMail(page: Page, { mails, url }: Mails, address: string): Promise<Page> {
  await mails.until(address)
  const reader = await page.context().newPage()
  await reader.goto(url)
  await reader.click(`li:has-text("${address}") a`)
  return reader
}

/** Reads the code of six digits in a mail that is open. */
export const readCode = async (mail: Page): Promise<string> => /\b\d{6}\b/.exec(await mail.innerText('pre'))![0]

/** Fills in the forms of the registration, the code of the mail too, and waits for the page behind them. */
export async function register(page: Page, mails: Mails, name: string): Promise<void> {
  const email = `${unique('p')}@example.test`
  // The page of the login, where a visitor may come from, has a field of this name, too.
  await page.getByRole('heading', { name: 'Create an account' }).waitFor()
  await page.getByLabel('Email address').fill(email)
  await press(page, 'Send me a code')
  await page.getByLabel('Digit 1').waitFor()
  const mail = await openMail(page, mails, email)
  const code = await readCode(mail)
  await mail.close()
  await page.getByLabel('Digit 1').click()
  await page.keyboard.type(code)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel(/^Password/).fill(unique('password'))
  await press(page, 'Create the account')
  await untilSignedIn(page, name)
}
