import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPayments, type SandboxPayments } from '../../sandbox/services/payments.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

/** Payments in a browser: the plan on a page of the frontend, and the pages of the payment processor. */

let payments: SandboxPayments
let world: BrowserWorld

beforeAll(async () => {
  payments = await startPayments()
  world = await startBrowserWorld((publicUrl) => ({
    WORKER_QUEUES: 'notifying,billing',
    ...payments.env(publicUrl),
  }))
})

afterAll(async () => {
  await world?.stop()
  await payments?.stop()
})

const hasPlan = (page: Page, words: string) => page.waitForSelector(`#plan:has-text("${words}")`)
const hasPaid = (page: Page, words: string) => page.waitForSelector(`#paid:has-text("${words}")`)

/** The title of the processor's page that the browser opens. */
async function processorPage(page: Page, button: string, title: string): Promise<void> {
  await page.click(button)
  await page.waitForSelector(`h1:has-text("${title}")`)
  expect(new URL(page.url()).origin).toBe(payments.url)
}

async function subscribe(page: Page): Promise<void> {
  await processorPage(page, '#upgrade', 'Subscribe to Pro')
  await page.click('button[value=works]')
  await page.waitForURL(`${world.frontend.url}/payment/success?session_id=cs_*`)
  await hasPaid(page, 'you are on Pro now')
}

/** Changes the subscription in the portal and returns. */
async function inPortal(page: Page, action: (portal: Page) => Promise<void>): Promise<void> {
  await processorPage(page, '#billing', 'Your subscription')
  await action(page)
  await page.click('#back')
  await page.waitForURL(`${world.frontend.url}/settings`)
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

const notified = (page: Page, words: string) => page.waitForSelector(`#notifications li:has-text("${words}")`)

describe('payments in a browser', () => {
  it('a user switches from Free to Pro and back, and can cancel the checkout', async () => {
    const { page, userId } = await world.newUser()
    await hasPlan(page, 'Free')
    await processorPage(page, '#upgrade', 'Subscribe to Pro')
    await page.click('#back')
    await page.waitForURL(`${world.frontend.url}/payment/cancel`)
    await hasPaid(page, 'The checkout was cancelled')
    await hasPlan(page, 'Free')

    await processorPage(page, '#upgrade', 'Subscribe to Pro')
    await page.click('button[value=fails]')
    await page.waitForSelector('[role=alert]:has-text("declined")')
    await page.click('button[value=works]')
    await page.waitForURL(`${world.frontend.url}/payment/success?session_id=cs_*`)
    await hasPaid(page, 'you are on Pro now')
    await hasPlan(page, 'Pro, renews on')
    expect(await page.innerText('#used')).toContain('of 60 posts')
    await notified(page, 'Pro')
    expect(await page.isVisible('#upgrade')).toBe(false)

    await page.click('#cancel-plan')
    await hasPlan(page, 'Pro until')
    await inPortal(page, (portal) => portal.click('button[value=resume]'))
    await hasPlan(page, 'Pro, renews on')
    await inPortal(page, (portal) => portal.click('button[value=cancel]'))
    await hasPlan(page, 'Pro until')

    await monthPasses(page)
    await hasPlan(page, 'Free: Pro has ended')
    expect(await page.innerText('#used')).toBe('0 of 30 posts, 0 of 15 captions')
    expect(await page.isVisible('#upgrade')).toBe(true)
    expect(await world.service.context.users.findById(userId)).toMatchObject({
      subscription: { plan: 'free', status: 'cancelled', processorSubscriptionId: null },
    })
  })

  it('a user whose card is declined keeps Pro and pays with another card', async () => {
    const { page } = await world.newUser()
    await subscribe(page)
    await inPortal(page, (portal) => portal.click('button[value=fails]'))
    await monthPasses(page)
    await hasPlan(page, 'the last payment failed')
    await inPortal(page, async (portal) => {
      await portal.click('button[value=works]')
      await portal.click('button[value=pay]')
      await portal.waitForSelector('.state:has-text("active")')
    })
    await hasPlan(page, 'Pro, renews on')
  })
})
