import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import type { Bluesky } from '../../sandbox/platforms/bluesky.ts'
import type { RunningPlatform } from '../../sandbox/platforms/sandbox-platform.ts'
import { startMailCatcher } from '../../sandbox/services/mail.ts'
import { DAY, MINUTE } from '../../src/domain/shared/times.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { encodeImage } from '../faults/image.ts'
import { ALL_QUEUES } from '../support/delivery-world.ts'
import { connectByStdio } from '../support/mcp-clients.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import { unique } from '../support/servers.ts'
import { workerBluesky } from '../support/worker-bluesky.ts'
import { findBarriers } from './axe.ts'
import { open, press, register, startBrowserWorld, textField, type BrowserWorld } from './world.ts'

/**
 * The acceptance run of the console: a person who has read no documentation does a week's work. Everything is found by its visible name;
 * only the agent uses another program.
 */

const dir = mkdtempSync(join(tmpdir(), 'postonce-acceptance-'))
const MCP = fileURLToPath(new URL('../../packages/mcp/bin/postonce-mcp.js', import.meta.url))
/** Neither UTC nor the zone of most machines that run tests. */
const TIMEZONE = 'America/New_York'
const SIZE = { width: 1_280, height: 900 }
/** For what a worker does. */
const PATIENT = { timeout: 60_000 }
const RUN_TIMEOUT_MS = 10 * MINUTE

let mails: Awaited<ReturnType<typeof startMailCatcher>>
let bluesky: Bluesky
let platforms: RunningPlatform[]
let controls: Record<Platform, Control>
let world: BrowserWorld

beforeAll(async () => {
  ;[mails, bluesky] = await Promise.all([startMailCatcher(), workerBluesky()])
  platforms = await startPlatforms(dir, { bluesky })
  controls = Object.fromEntries(
    listFronts(platforms).map(([platform, { control }]) => [platform, controlOf(control)]),
  ) as Record<Platform, Control>
  world = await startBrowserWorld((url) => ({
    ...Object.assign({}, ...platforms.map((platform) => platform.env(url))),
    ...mails.env(),
    ...ALL_QUEUES,
  }))
})

afterAll(async () => {
  await world?.stop()
  await Promise.all((platforms ?? []).map((platform) => platform.stop()))
  await bluesky?.reset()
  await mails?.stop()
  rmSync(dir, { recursive: true, force: true })
})

it(
  'a stranger connects two brands, plans a week, corrects a failed post and reads the figures of the week',
  async () => {
    const page = await world.visit('/', { timezoneId: TIMEZONE, viewport: SIZE })
    await page.getByRole('link', { name: 'Create an account' }).click()
    await register(page, mails, 'Ann Stranger')
    await connectAccounts(page)
    await createBrands(page)
    await planWeek(page)
    await correctMonday(page)
    await dragTwo(page)
    await publishDraftOfAgent(page)
    await readFigures(page)
    expect(world.problems).toEqual([])
  },
  RUN_TIMEOUT_MS,
)

const BRANDS: Record<string, Platform[]> = {
  'Corner teahouse': ['bluesky', 'mastodon', 'tumblr'],
  'Lemon bakery': ['threads', 'instagram', 'facebook'],
}
const [TEAHOUSE, BAKERY] = Object.keys(BRANDS) as [string, string]
const NAMES: Record<Platform, string> = {
  bluesky: 'Bluesky',
  threads: 'Threads',
  instagram: 'Instagram',
  facebook: 'Facebook',
  mastodon: 'Mastodon',
  tumblr: 'Tumblr',
}

/** Connects an account on every platform, all of them from nothing but that of Bluesky, whose app password the stranger has. */
async function connectAccounts(page: Page): Promise<void> {
  const name = unique('p').replace(/\W/g, '')
  const { handle, appPassword } = await bluesky.createAccount({ handle: `${name}.test` })
  await page.getByRole('main').getByRole('link', { name: 'Connect an account' }).click()
  await chooseToConnect(page, 'bluesky')
  await page.getByRole('textbox', { name: 'Handle' }).fill(handle)
  await page.getByLabel(/^App password/).fill(appPassword)
  await press(page, 'Connect')
  await page.getByRole('region', { name: handle }).getByText('Works').waitFor()
  await chooseToConnect(page, 'mastodon')
  await press(page, 'Continue on the server')
  await createOnPlatform(page, 'mastodon', 'User name', name)
  for (const [platform, label] of [
    ['tumblr', 'Blog name'],
    ['threads', 'User name'],
    ['facebook', 'Name'],
  ] as const) {
    await chooseToConnect(page, platform)
    await createOnPlatform(page, platform, label, name)
  }
  // The Instagram account came with the page.
  for (const platform of Object.values(NAMES)) {
    await page
      .getByRole('region', { name: `, ${platform}` })
      .getByText('Works')
      .waitFor()
  }
}

async function chooseToConnect(page: Page, platform: Platform): Promise<void> {
  await page.getByRole('button', { name: 'Connect an account' }).first().click()
  await page.getByRole('menuitem', { name: new RegExp(`^${NAMES[platform]}`) }).click()
}

/** Creates the account on the page of the platform, and allows the access. */
async function createOnPlatform(page: Page, platform: Platform, label: string, name: string): Promise<void> {
  await page.getByLabel(label).fill(name)
  await press(page, 'Create and allow')
  await page.getByRole('alert').getByText(`${NAMES[platform]} is connected`).waitFor()
}

async function createBrands(page: Page): Promise<void> {
  for (const [brand, on] of Object.entries(BRANDS)) {
    await press(page, 'New brand')
    const dialog = page.getByRole('dialog', { name: 'A new brand' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill(brand)
    await dialog.getByRole('combobox', { name: 'Accounts' }).click()
    for (const platform of on) await page.getByRole('option', { name: new RegExp(`^${NAMES[platform]} `) }).click()
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Brands' }).getByText(brand).waitFor()
  }
  expect(await page.getByRole('region', { name: 'Brands' }).getByText('3 accounts').count()).toBe(2)
}

/** The posts from Monday to Sunday. Instagram takes no post without a picture. */
const WEEK = [
  { text: 'A week of winter teas begins: win a pot in our lottery', brand: null, withPicture: true },
  { text: 'Tuesday is for oolong', brand: TEAHOUSE },
  { text: 'Lemon cake on Wednesday', brand: BAKERY, withPicture: true },
  { text: 'How we store our tea', brand: TEAHOUSE },
  { text: 'Friday: scones, still warm', brand: BAKERY, withPicture: true },
  { text: 'Saturday tasting at noon', brand: TEAHOUSE },
  { text: 'Closed on Sunday, baking for you', brand: BAKERY, withPicture: true },
] as const
const HOUR = '09:00'

/** The dates of the next week, from its Monday, as 2026-05-01. */
function datesOfNextWeek(): string[] {
  const today = new Date(`${new Intl.DateTimeFormat('sv', { timeZone: TIMEZONE }).format()}T00:00Z`)
  const untilMonday = (8 - today.getUTCDay()) % 7 || 7
  return WEEK.map((_, day) => new Date(today.getTime() + (untilMonday + day) * DAY).toISOString().slice(0, 10))
}

const inWords = (date: string, options: Intl.DateTimeFormatOptions, locale = 'en-US') =>
  new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(new Date(date))

/** The first and the last post are written from the button in the head of the page, the others in free times of the calendar. */
async function planWeek(page: Page): Promise<void> {
  const dates = datesOfNextWeek()
  for (const [day, post] of WEEK.entries()) {
    const isLast = day === WEEK.length - 1
    if (day === 0 || isLast) {
      if (isLast) await chooseBrand(page, post.brand)
      await page.getByRole('banner').getByRole('link', { name: 'New post' }).click()
    } else {
      if (day === 1) await openNextWeek(page)
      await chooseBrand(page, post.brand)
      await slotOf(page, dates[day]!, HOUR).click()
    }
    await textField(page).fill(post.text)
    if ('withPicture' in post) await addPicture(page)
    const accounts = page.getByRole('region', { name: 'Publish on' }).getByRole('checkbox', { checked: true })
    await expect.poll(() => accounts.count()).toBe(post.brand === null ? 6 : 3)
    if (day === 0 || isLast) await chooseTime(page, dates[day]!)
    await page.getByText(`${post.text.length} / `).first().waitFor()
    await press(page, 'Schedule')
    if (post.brand === null) await press(page, 'Publish for all')
    if (day === 0 || isLast) {
      const when = inWords(dates[day]!, { dateStyle: 'medium' })
      await page.getByText(`${when}, 9:00 AM (${TIMEZONE})`).waitFor()
    } else await event(page, post.text, HOUR).waitFor()
  }
  await chooseBrand(page, null)
  await openNextWeek(page)
  for (const { text } of WEEK) await event(page, text, HOUR).waitFor()
}

async function openNextWeek(page: Page): Promise<void> {
  await open(page, 'Calendar')
  await page.getByText(`Times in ${TIMEZONE}`).waitFor()
  await page.getByRole('tab', { name: 'Week' }).click()
  await press(page, 'Next')
}

async function chooseBrand(page: Page, brand: string | null): Promise<void> {
  await page.getByRole('banner').getByRole('combobox', { name: 'Brand' }).click()
  await page.getByRole('option', { name: brand ?? 'All accounts' }).click()
}

const slotOf = (page: Page, date: string, time: string) =>
  page.getByRole('button', { name: `Write a post for ${date} ${time}:00` })

/** A planned post in the calendar. */
const event = (page: Page, text: string, time: string) =>
  page.getByRole('button', { name: `Scheduled ${time} ${text}`, exact: true })

async function addPicture(page: Page): Promise<void> {
  const picture = { name: 'shelf.jpg', mimeType: 'image/jpeg', buffer: await encodeImage() }
  await page.getByLabel('Add pictures or a video').setInputFiles(picture)
  await page.getByLabel('Description of shelf.jpg').fill('A shelf with tins and cakes')
}

async function chooseTime(page: Page, date: string): Promise<void> {
  await page.getByText('Later', { exact: true }).click()
  await page.getByRole('button', { name: 'Time', exact: true }).click()
  const day = page.getByRole('button', {
    name: inWords(date, { day: 'numeric', month: 'long', year: 'numeric' }, 'en-GB'),
    exact: true,
  })
  // It may be in the next month.
  await page.getByRole('spinbutton', { name: 'Hours' }).waitFor()
  if ((await day.count()) === 0) await press(page, 'Next month')
  await day.click()
  await page.getByRole('spinbutton', { name: 'Hours' }).fill('09')
  await page.getByRole('spinbutton', { name: 'Minutes' }).fill('00')
  expect(await findBarriers(page)).toEqual([])
  await press(page, 'Done')
}

const REASON = 'Text contains the word “lottery”, which this server does not allow'
const CORRECTED = 'A week of winter teas begins: come and win a pot'

/** Publishes the post of Monday early. A platform refuses it, says why, and takes the corrected copy. */
async function correctMonday(page: Page): Promise<void> {
  const refusal = { status: 422, body: { error: `Validation failed: ${REASON}` } }
  await controls.mastodon.fault({ method: 'POST', path: '/api/v1/statuses', times: 1, action: refusal })
  await event(page, WEEK[0].text, HOUR).click()
  await press(page, 'Publish now')
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('main').getByText('Partly published').first().waitFor(PATIENT)
  const refused = page.getByRole('region', { name: 'Accounts' }).getByRole('listitem').filter({ hasText: 'Failed' })
  expect(await refused.innerText()).toContain(`Mastodon says: “Validation failed: ${REASON}”`)
  expect(await refused.innerText()).toContain('Change what the platform refused, and publish the corrected copy.')
  expect(await findBarriers(page)).toEqual([])
  await refused.getByRole('button', { name: 'Correct it for this account' }).click()

  await page.getByRole('heading', { name: 'Edit the draft' }).waitFor()
  await textField(page).fill(CORRECTED)
  // The others have the post already.
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1)
  await page.getByRole('checkbox', { name: /^Mastodon /, checked: true }).waitFor()
  await press(page, 'Publish now')
  await page.getByRole('link', { name: 'Open the post' }).waitFor(PATIENT)
}

/** Moves the post of Tuesday to Thursday, two hours later, and that of Friday to Saturday, at another time than the post there. */
async function dragTwo(page: Page): Promise<void> {
  const dates = datesOfNextWeek()
  const moves = [
    { text: WEEK[1].text, to: dates[3]!, time: '11:00', words: '11:00 AM' },
    { text: WEEK[4].text, to: dates[5]!, time: '10:00', words: '10:00 AM' },
  ]
  await openNextWeek(page)
  for (const { text, to, time } of moves) {
    await event(page, text, HOUR).dragTo(slotOf(page, to, time), { targetPosition: { x: 20, y: 4 } })
    await page.getByText('The post is scheduled.').first().waitFor()
    await event(page, text, time).waitFor()
  }
  for (const { text, to, time, words } of moves) {
    await event(page, text, time).click()
    await page.getByText(`${inWords(to, { dateStyle: 'medium' })}, ${words} (${TIMEZONE})`).waitFor()
    await openNextWeek(page)
  }
}

const DRAFT = 'Our agent suggests: jasmine for a grey morning'

/** Creates an API key for an agent, which writes a draft with it, and publishes the draft. */
async function publishDraftOfAgent(page: Page): Promise<void> {
  await open(page, 'Settings')
  await page.getByRole('tab', { name: 'API keys' }).click()
  await press(page, 'New key')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Tea agent')
  await press(page, 'Create the key')
  const shown = page.getByRole('dialog', { name: 'Your new key' })
  const key = await shown.getByText(/^po_live_/).innerText()
  await shown.getByRole('button', { name: 'Close' }).click()

  const agent = await connectByStdio(process.execPath, [MCP], { POSTONCE_URL: world.url, POSTONCE_API_KEY: key })
  try {
    await agent.use('draft_post', { text: DRAFT, platforms: ['bluesky', 'tumblr'] })
  } finally {
    await agent.close()
  }

  await open(page, 'Review')
  const draft = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: DRAFT, exact: true }) })
  await draft.getByText('from an agent').waitFor()
  await draft.getByRole('link', { name: DRAFT, exact: true }).click()
  await page.getByText(/^changed .*, from an agent$/).waitFor()
  await press(page, 'Publish now')
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('link', { name: 'Open the post' }).nth(1).waitFor(PATIENT)
}

/** The reactions of the public to each post, by its text and platform. */
const REACTIONS: { text: string; on: Platform; likes: number; comments: number; shares: number }[] = [
  { text: WEEK[0].text, on: 'bluesky', likes: 7, comments: 2, shares: 1 },
  { text: WEEK[0].text, on: 'threads', likes: 5, comments: 1, shares: 2 },
  { text: WEEK[0].text, on: 'instagram', likes: 23, comments: 4, shares: 3 },
  { text: WEEK[0].text, on: 'facebook', likes: 11, comments: 3, shares: 2 },
  { text: WEEK[0].text, on: 'tumblr', likes: 4, comments: 1, shares: 6 },
  { text: CORRECTED, on: 'mastodon', likes: 9, comments: 5, shares: 8 },
  { text: DRAFT, on: 'bluesky', likes: 3, comments: 0, shares: 1 },
  { text: DRAFT, on: 'tumblr', likes: 2, comments: 1, shares: 0 },
]

const sumOf = (reactions: typeof REACTIONS) =>
  reactions.reduce((sum, { likes, comments, shares }) => sum + likes + comments + shares, 0)

/** Reads the figures of the week, which are those that the platforms have. */
async function readFigures(page: Page): Promise<void> {
  for (const { text, on, ...counts } of REACTIONS) {
    const own = (await controls[on].ledger()).filter((entry) => entry.text === text)
    expect([on, text, own.length]).toEqual([on, text, 1])
    await controls[on].setMetrics(own[0]!.id, counts)
  }

  // Of one post at any time.
  await open(page, 'Posts')
  await page.getByRole('main').getByRole('link', { name: WEEK[0].text, exact: true }).click()
  await press(page, 'Read now')
  const figures = page.getByRole('region', { name: 'Figures' })
  for (const { on, likes, comments, shares } of REACTIONS.slice(0, 5)) {
    const row = figures.getByRole('row').filter({ hasText: NAMES[on] })
    await row.getByRole('cell', { name: String(likes), exact: true }).waitFor(PATIENT)
    expect((await row.getByRole('cell').allInnerTexts()).slice(1, 4)).toEqual([likes, shares, comments].map(String))
  }

  // Of all of them after the next collection.
  await collectMetrics()
  await open(page, 'Analytics')
  await page.getByText('7 days', { exact: true }).click()
  await page.waitForURL(/period=7d/)
  expect(await readTotal(page, 'Posts')).toBe('3')
  expect(await readTotal(page, 'Engagement')).toBe(String(sumOf(REACTIONS)))
  const row = (platform: Platform) =>
    page.getByRole('region', { name: 'Platforms' }).getByRole('row').filter({ hasText: NAMES[platform] })
  await row('mastodon').waitFor()
  for (const platform of Object.keys(NAMES) as Platform[]) {
    const own = REACTIONS.filter(({ on }) => on === platform)
    const cells = await row(platform).getByRole('cell').allInnerTexts()
    expect(cells.slice(1, 3)).toEqual([String(own.length), String(sumOf(own))])
  }
  const top = page.getByRole('region', { name: 'Top posts' }).getByRole('row')
  await top.nth(REACTIONS.length).waitFor()
  expect(await top.count()).toBe(1 + REACTIONS.length)
  expect(await top.nth(1).innerText()).toMatch(new RegExp(`${WEEK[0].text}.*Instagram.*23.*4.*3.*30`, 's'))
}

/** Reads one of the totals above the charts. */
async function readTotal(page: Page, label: string): Promise<string> {
  const card = page.getByRole('main').getByText(label, { exact: true }).first().locator('..')
  return (await card.innerText()).split(/\n+/)[1]!
}

/** Collects the metrics of published posts as the Schedule does every 15 minutes. */
async function collectMetrics(): Promise<void> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.service.context.config
  const connection = await Connection.connect({ address })
  try {
    const { workflow } = new Client({ connection, namespace })
    await workflow.execute('collectPostMetrics', { workflowId: unique('collect'), taskQueue: 'analytics' })
  } finally {
    await connection.close()
  }
}
