import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { open, startBrowserWorld, type BrowserWorld } from './world.ts'

/** Payments in a browser: the plan on a page of the console, and the pages of the payment processor. */

let payments: SandboxPayments
let world: BrowserWorld

beforeAll(async () => {
  payments = await startPayments()
  world = await startBrowserWorld((url) => ({
    WORKER_QUEUES: 'notifying,billing',
    ...payments.env(url),
  }))
})

afterAll(async () => {
  await world?.stop()
  await payments?.stop()
})

const hasPlan = (page: Page, words: string | RegExp) => page.getByRole('main').getByText(words).waitFor()
const hasPaid = (page: Page, words: string) => page.getByRole('heading', { name: words }).waitFor()
const toPlan = (page: Page) => page.getByRole('link', { name: 'Your plan' }).click()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** The title of the processor's page that the browser opens. */
async function processorPage(page: Page, button: string, title: string): Promise<void> {
  await press(page, button)
  await page.waitForSelector(`h1:has-text("${title}")`)
  expect(new URL(page.url()).origin).toBe(payments.url)
}

async function subscribe(page: Page): Promise<void> {
  await processorPage(page, 'Change to Pro', 'Subscribe to Pro')
  await page.click('button[value=works]')
  await page.waitForURL(`${world.url}/payment/success?session_id=cs_*`)
  await hasPaid(page, 'You are on Pro')
  await toPlan(page)
}

/** Changes the subscription in the portal and returns. */
async function inPortal(page: Page, action: (portal: Page) => Promise<void>): Promise<void> {
  await processorPage(page, 'Cards and invoices', 'Your subscription')
  await action(page)
  await page.click('#back')
  await page.waitForURL(`${world.url}/settings`)
  await open(page, 'Plan')
}

/** Uses the sandbox's overview in another tab. */
async function monthPasses(page: Page): Promise<void> {
  const overview = await page.context().newPage()
  await overview.goto(`${payments.url}/`)
  const before = await overview.innerText('#now')
  await overview.click('button[value=month]')
  await overview.waitForSelector(`#now:not(:text-is("${before}"))`)
  await overview.close()
}

describe('payments in a browser', () => {
  it('a user switches from Free to Pro and back, and can cancel the checkout', async () => {
    const { page, userId } = await world.newUser('/plan')
    await hasPlan(page, 'You are on Free.')
    await processorPage(page, 'Change to Pro', 'Subscribe to Pro')
    await page.click('#back')
    await page.waitForURL(`${world.url}/payment/cancel`)
    await hasPaid(page, 'The checkout was cancelled')
    await toPlan(page)
    await hasPlan(page, 'You are on Free.')

    await processorPage(page, 'Change to Pro', 'Subscribe to Pro')
    await page.click('button[value=fails]')
    await page.waitForSelector('[role=alert]:has-text("declined")')
    await page.click('button[value=works]')
    await page.waitForURL(`${world.url}/payment/success?session_id=cs_*`)
    await hasPaid(page, 'You are on Pro')
    await toPlan(page)
    await hasPlan(page, /^Renews on/)
    await page.getByText('0 of 60').waitFor()
    expect(await page.getByRole('button', { name: 'Change to Pro' }).count()).toBe(0)

    await press(page, 'End Pro')
    await page.getByRole('dialog').getByRole('button', { name: 'End Pro' }).click()
    await hasPlan(page, /^Pro until/)
    await inPortal(page, (portal) => portal.click('button[value=resume]'))
    await hasPlan(page, /^Renews on/)
    await inPortal(page, (portal) => portal.click('button[value=cancel]'))
    await hasPlan(page, /^Pro until/)

    await monthPasses(page)
    await hasPlan(page, 'Pro has ended. You are on Free.')
    await page.getByText('0 of 30').waitFor()
    await page.getByRole('button', { name: 'Change to Pro' }).waitFor()
    expect(await world.service.context.users.findById(userId)).toMatchObject({
      subscription: { plan: 'free', status: 'cancelled', processorSubscriptionId: null },
    })
  })

  it('a user whose card is declined keeps Pro and pays with another card', async () => {
    const { page } = await world.newUser('/plan')
    await subscribe(page)
    await inPortal(page, (portal) => portal.click('button[value=fails]'))
    await monthPasses(page)
    await hasPlan(page, /^The last payment failed/)
    await inPortal(page, async (portal) => {
      await portal.click('button[value=works]')
      await portal.click('button[value=pay]')
      await portal.waitForSelector('.state:has-text("active")')
    })
    await hasPlan(page, /^Renews on/)
  })
})

it('the pages of payments leave no error in the log of the browser', () => {
  expect(world.problems).toEqual([])
})
