import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bluesky } from '../../sandbox/platforms/bluesky.ts'
import { deriveMetrics, NO_COUNTS } from '../../src/domain/analytics/analytics.ts'
import { DELIVERING } from '../support/delivery-world.ts'
import { controlOf } from '../support/platform-control.ts'
import { connectAccounts, publishedPost, storePosts } from '../support/published.ts'
import { unique } from '../support/servers.ts'
import { workerBluesky } from '../support/worker-bluesky.ts'
import { giveDemo } from './analytics.ts'
import { findBarriers, findFlaws } from './axe.ts'
import { PAGES } from './pages.ts'
import { logIn, open, press, startBrowserWorld, textField, type BrowserWorld } from './world.ts'

/** Writing, planning, correcting and reading of posts in the console. */

const DAY_MS = 86_400_000
/** For what happens after a click. */
const PATIENT = { timeout: 20_000 }

let bluesky: Bluesky
let world: BrowserWorld

beforeAll(async () => {
  bluesky = await workerBluesky()
  world = await startBrowserWorld(() => ({
    BLUESKY_ENTRY_URL: bluesky.url,
    BLUESKY_VIDEO_URL: bluesky.url,
    BLUESKY_APP_URL: bluesky.url,
    BLUESKY_DIRECTORY_URL: bluesky.directoryUrl,
    ...DELIVERING,
  }))
})

afterAll(async () => {
  await world?.stop()
  await bluesky?.reset()
})

const control = () => controlOf(bluesky.control)
const publicTexts = async () => (await control().ledger()).map(({ text }) => text)

/** A user who has an account on Bluesky, and posts through the API. */
async function author(path = '/') {
  const { handle, appPassword } = await bluesky.createAccount({ handle: `${unique('u')}.test` })
  const user = await world.newUser(path)
  const connected = await user.call('POST', '/api/platform/bluesky/connect', { identifier: handle, appPassword })
  expect(connected.status).toBe(200)
  await user.page.reload()
  return {
    ...user,
    handle,
    async create(body: object): Promise<string> {
      const { status, body: created } = await user.call('POST', '/api/posts', {
        selectedPlatforms: ['bluesky'],
        ...body,
      })
      expect(status).toBe(201)
      return created.data.postId
    },
  }
}

describe('the console', () => {
  it('leads a new user to a first post on a first account', async () => {
    const { handle, appPassword } = await bluesky.createAccount({ handle: `${unique('u')}.test` })
    const { page } = await world.newUser()
    await page.getByRole('main').getByRole('link', { name: 'Connect an account' }).click()
    await page.getByRole('button', { name: 'Connect an account' }).first().click()
    await page.getByRole('menuitem', { name: 'Bluesky' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Handle' }).fill(handle)
    await dialog.getByLabel(/^App password/).fill('wrong-wrong-wrong')
    await press(page, 'Connect')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel(/^App password/).fill(appPassword)
    await press(page, 'Connect')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: handle }).getByText('Works').waitFor()

    await open(page, 'Home')
    await page.getByRole('link', { name: 'Write a post' }).click()
    const text = `My first post, ${unique('text')}`
    await textField(page).fill(text)
    // The length as the platform counts it.
    await page.getByText(`${text.length} / 300`).waitFor()
    await page.getByRole('article', { name: 'Preview for Bluesky' }).getByText(text).waitFor()
    await press(page, 'Publish now')
    await page.waitForURL(`${world.url}/posts/*`)
    const link = page.getByRole('link', { name: 'Open the post' })
    await page.goto((await link.getAttribute('href'))!)
    expect(await page.textContent('body')).toContain(text)
  })

  it('keeps what was typed over a reload and a failure, and stores it once', async () => {
    const { page } = await author('/compose')
    const text = `Typed once, ${unique('text')}`
    await textField(page).fill(text)
    await page.reload()
    await page.getByText('Restored what you had not saved').waitFor()
    expect(await textField(page).inputValue()).toBe(text)

    await page.route('**/api/posts?*', (route) => route.abort())
    await press(page, 'Publish now')
    await page.getByText('The service did not respond').waitFor()
    expect(await textField(page).inputValue()).toBe(text)
    await page.unroute('**/api/posts?*')
    await page.getByRole('button', { name: 'Publish now' }).dblclick()
    await page.waitForURL(`${world.url}/posts/*`)
    await page.getByRole('link', { name: 'Open the post' }).waitFor()
    expect((await publicTexts()).filter((one) => one === text)).toHaveLength(1)
    await page.goto(`${world.url}/compose`)
    await textField(page).waitFor()
    expect(await textField(page).inputValue()).toBe('')
  })

  it('undoes the publication of a post that waits as long as its author has set', async () => {
    const { page, call } = await author('/settings')
    await page.getByLabel('Seconds to undo').fill('120')
    await press(page, 'Save')
    await page.getByText('Saved.').waitFor()

    await page.goto(`${world.url}/compose`)
    const text = `Regretted, ${unique('text')}`
    await textField(page).fill(text)
    await page.getByText('120 seconds after you publish it').waitFor()
    await press(page, 'Publish now')
    await page.waitForURL(/\/posts\/[0-9a-f]{24}$/)
    const timers = page.getByText(/^Publishes in 1?\d\d s$/)
    await expect.poll(() => timers.count(), PATIENT).toBe(2)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('main').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Nothing is published.').waitFor()
    await expect.poll(() => timers.count(), PATIENT).toBe(0)
    const posts = (await call('GET', '/api/posts')).body.data.posts
    expect(posts).toMatchObject([{ status: 'CANCELLED', content: { text } }])
    expect(await publicTexts()).not.toContain(text)
  })

  it('says why a platform refused a post, and a corrected duplicate is published', async () => {
    const { page, create } = await author()
    const text = `Refused, ${unique('text')}`
    await control().fault({
      path: 'putRecord',
      times: 1,
      action: { status: 400, body: { error: 'InvalidRequest', message: 'Record has a bad word' } },
    })
    const postId = await create({ content: { text } })
    await page.goto(`${world.url}/posts/${postId}`)
    await page.getByRole('region', { name: 'Accounts' }).getByText('Record has a bad word').waitFor()
    await page.getByText('Change what the platform refused').waitFor()
    await open(page, 'Home')
    const needsUser = page.getByRole('region', { name: 'Needs you' })
    await needsUser.getByRole('link', { name: text }).click()
    await press(page, 'Correct it for this account')
    await page.waitForURL(`${world.url}/compose?*`)
    await textField(page).fill(`${text}, corrected`)
    await press(page, 'Publish now')
    await page.getByRole('link', { name: 'Open the post' }).waitFor()
    expect(await publicTexts()).toContain(`${text}, corrected`)
    await open(page, 'Home')
    await needsUser.getByText('All is well.').waitFor()
    await page.goto(`${world.url}/posts/${postId}`)
    await page.getByRole('link', { name: 'Open the copy' }).click()
    await page.getByRole('main').getByText(`${text}, corrected`).waitFor()
  })

  it('shows a person that a post was changed in another tab, and loses neither text', async () => {
    const { page, create } = await author()
    const scheduledAt = new Date(Date.now() + 5 * DAY_MS).toISOString()
    const postId = await create({ content: { text: 'Before' }, scheduledAt })
    const other = await page.context().newPage()
    for (const tab of [page, other]) {
      await tab.goto(`${world.url}/compose?id=${postId}`)
      await textField(tab).fill(tab === page ? 'Mine' : 'Theirs')
    }
    await press(other, 'Save')
    await other.waitForURL(`${world.url}/posts/*`)
    await press(page, 'Save')
    await page.getByText('The post was changed elsewhere meanwhile').waitFor()
    expect(await textField(page).inputValue()).toBe('Mine')
    await press(page, 'Keep mine')
    await page.getByRole('heading', { name: 'Post', exact: true }).waitFor()
    await page.getByRole('main').getByText('Mine').waitFor()
    // The other tab reads it again.
    await other.reload()
    await other.getByRole('main').getByText('Mine').waitFor()
  })

  describe('the calendar', () => {
    // In the middle of a month, so that the days around it are on the page.
    const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth() + 2]
    const day = (date: number) => new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10)
    const cell = (page: Page, date: number) =>
      page.locator('.mantine-MonthView-monthViewDay').filter({ hasText: new RegExp(`^${date}`) })

    async function calendarOf(posts: { text: string; at: string }[]) {
      const user = await author()
      const { page, create } = user
      const ids: string[] = []
      for (const { text, at } of posts)
        ids.push(await create({ content: { text }, scheduledAt: `${day(14)}T${at}:00Z`, status: 'SCHEDULED' }))
      // High enough to drag without scrolling.
      await page.setViewportSize({ width: 1_280, height: 1_400 })
      await page.goto(`${world.url}/calendar?date=${day(14)}`)
      const timeOf = async (id: string) => (await world.service.context.posts.find(id))?.scheduledAt?.toISOString()
      return { ...user, ids, timeOf }
    }

    it('moves a post by dragging it, and refuses a day that is over', async () => {
      const text = unique('dragged')
      const { page, ids, timeOf } = await calendarOf([{ text, at: '09:30' }])
      const postId = ids[0]!
      const event = page.getByRole('button', { name: text })
      await event.dragTo(cell(page, 16))
      await expect.poll(() => timeOf(postId), PATIENT).toBe(`${day(16)}T09:30:00.000Z`)

      await page.clock.setFixedTime(`${day(15)}T12:00:00Z`)
      await page.reload()
      await event.dragTo(cell(page, 14))
      await page.getByText('This time is over. Move the post to a later one.').waitFor()
      expect(await timeOf(postId)).toBe(`${day(16)}T09:30:00.000Z`)
      await event.click()
      await page.waitForURL(`${world.url}/posts/${postId}`)
    })

    it('offers the times of a week for new posts, and not those that are over', async () => {
      const { page } = await calendarOf([])
      await page.clock.setFixedTime(`${day(14)}T12:00:00Z`)
      await page.goto(`${world.url}/calendar?view=week&date=${day(14)}`)
      const slot = (time: string) => page.getByRole('button', { name: `Write a post for ${day(14)} ${time}` })
      await slot('11:00').click()
      await page.getByText('This time is over. Choose a later one.').waitFor()
      await slot('13:00').click()
      await page.waitForURL(`${world.url}/compose?at=*`)
      expect(new URL(page.url()).searchParams.get('at')).toBe(`${day(14)}T13:00:00.000Z`)
    })

    it("marks today in the user's timezone, where the browser has another day", async () => {
      const timezone = 'Pacific/Kiritimati'
      const { call, secrets } = await world.service.logIn()
      await call('PUT', '/api/profile/change-timezone', { timezone })
      const page = await world.visit('/calendar?date=2040-05-01', { timezoneId: 'Pacific/Honolulu' })
      await logIn(page, secrets)
      const today = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone }).format()
      const name = new Intl.DateTimeFormat('en-US', { timeZone: timezone, dateStyle: 'long' }).format()
      const marked = page.locator('[data-today]:visible')
      await page.getByText('May 2040').waitFor()
      expect(await marked.count()).toBe(0)
      await press(page, 'Today')
      await page.waitForURL(`${world.url}/calendar?date=${today}`)
      await page.getByRole('button', { name }).and(marked).waitFor()
      expect(await marked.count()).toBe(1)

      await page.setViewportSize({ width: 390, height: 844 })
      await page.getByRole('button', { name: 'Write a post for this day' }).waitFor()
      await page.getByRole('button', { name }).and(marked).waitFor()
      expect(await marked.count()).toBe(1)

      await page.setViewportSize({ width: 1_280, height: 844 })
      await page.goto(`${world.url}/calendar?view=week`)
      await page
        .locator('.mantine-WeekView-weekViewDayLabel[data-today]', { hasText: String(Number(today.slice(8))) })
        .waitFor()
    })

    it('counts the posts that a day of the month has no room for, and opens them', async () => {
      const hours = ['08:00', '09:00', '10:00', '11:00', '12:00', '13:00']
      const { page } = await calendarOf(hours.map((at) => ({ text: `Post of ${at}`, at })))
      await page.getByRole('button', { name: 'Post of 10:00' }).waitFor()
      expect(await page.getByRole('button', { name: 'Post of 11:00' }).count()).toBe(0)
      await press(page, '3 more posts')
      for (const at of hours) await page.getByRole('button', { name: `Post of ${at}` }).waitFor()
    })
  })

  it('publishes and deletes several drafts of a program together', async () => {
    const { page, create } = await author()
    const texts = ['first', 'second', 'third'].map((name) => `Draft ${name}, ${unique('text')}`)
    for (const text of texts) await create({ content: { text }, status: 'DRAFT' })
    await open(page, 'Review')
    const select = (text: string) => page.getByRole('checkbox', { name: `Select: ${text}` }).check()
    await select(texts[0]!)
    await select(texts[1]!)
    await press(page, 'Publish now')
    await press(page, 'Publish')
    await page.getByText('1 post', { exact: true }).waitFor()
    await expect.poll(publicTexts, PATIENT).toEqual(expect.arrayContaining(texts.slice(0, 2)))
    await select(texts[2]!)
    await press(page, 'More')
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Nothing to review').waitFor()
  })

  it('moves several posts by the same time, and opens one of them to edit', async () => {
    const { page, create } = await author()
    const posts = ['2040-03-24T09:30:00.000Z', '2040-03-26T18:00:00.000Z'].map((at) => ({ at, text: unique('moved') }))
    const ids: string[] = []
    for (const { at, text } of posts)
      ids.push(await create({ content: { text }, scheduledAt: at, status: 'SCHEDULED' }))
    await open(page, 'Posts')
    await page.getByRole('checkbox', { name: '2 posts' }).check()
    await press(page, 'Move by')
    await page.getByRole('textbox', { name: 'Number' }).fill('2')
    await page.getByRole('combobox', { name: 'Unit' }).click()
    await page.getByRole('option', { name: 'weeks' }).click()
    expect(await findBarriers(page)).toEqual([])
    await press(page, 'Move 2 posts')
    await page.getByText('The posts are moved.').waitFor()
    const timeOf = async (id: string) => (await world.service.context.posts.find(id))?.scheduledAt?.toISOString()
    expect(await Promise.all(ids.map(timeOf))).toEqual(['2040-04-07T09:30:00.000Z', '2040-04-09T18:00:00.000Z'])

    await page.getByRole('link', { name: `Edit: ${posts[0]!.text}` }).click()
    await page.waitForURL(`${world.url}/compose?id=${ids[0]}`)
  })

  it('is worked with by the keyboard alone', async () => {
    const { page } = await author('/compose')
    const text = unique('by keyboard')
    await textField(page).waitFor()
    expect(await textField(page).evaluate((field) => field.matches(':focus'))).toBe(true)
    await page.keyboard.type(text)
    const focused = () =>
      page.evaluate<string>(`document.activeElement.textContent || document.activeElement.getAttribute('aria-label')`)
    for (let tabs = 0; (await focused()) !== 'Save as draft'; tabs++) {
      expect(tabs).toBeLessThan(30)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Post', exact: true }).waitFor()
    await page.getByRole('main').getByText(text).waitFor()
  })

  it('shows the posts of one brand, and asks before a post is published for two', async () => {
    const { page, call, create, handle } = await author()
    const texts = { branded: unique('branded'), other: unique('other') }
    await create({ content: { text: texts.branded }, status: 'DRAFT' })
    const second = await bluesky.createAccount({ handle: `${unique('u')}.test` })
    await call('POST', '/api/platform/bluesky/connect?replace=false', {
      identifier: second.handle,
      appPassword: second.appPassword,
    })
    const { body } = await call('GET', '/api/platform/accounts')
    const added = body.data.find(({ isDefault }: { isDefault: boolean }) => !isDefault)._id
    await create({
      content: { text: texts.other },
      status: 'DRAFT',
      selectedPlatforms: [],
      selectedAccounts: [added],
    })
    await page.reload()
    await open(page, 'Accounts')
    for (const [name, account] of [
      ['North', handle],
      ['South', second.handle],
    ] as const) {
      await press(page, 'New brand')
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      await page.getByRole('dialog').getByRole('combobox', { name: 'Accounts' }).click()
      await page.getByRole('option', { name: `Bluesky ${account}` }).click()
      await page.keyboard.press('Tab')
      await press(page, 'Save')
      await page.getByRole('region', { name: 'Brands' }).getByText(name).waitFor()
    }
    await page.getByRole('banner').getByRole('combobox', { name: 'Brand' }).click()
    await page.getByRole('option', { name: 'North' }).click()
    await open(page, 'Review')
    await page.getByText(texts.branded).waitFor()
    expect(await page.getByText(texts.other).count()).toBe(0)

    await page.getByRole('banner').getByRole('link', { name: 'New post' }).click()
    await textField(page).fill(unique('for both'))
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1)
    await page.getByRole('checkbox', { name: `Bluesky ${second.handle}` }).click()
    await press(page, 'Publish now')
    await page.getByRole('dialog', { name: 'Publish for several brands?' }).waitFor()
    await press(page, 'Publish for all')
    await page.waitForURL(`${world.url}/posts/*`)
  })

  it('switches off mails of a kind, and not what must stay', async () => {
    const { page, call } = await world.newUser('/settings/notifications')
    const mail = page.getByRole('switch', { name: 'A post fails, or a part of it: Mail' })
    await mail.click()
    await expect
      .poll(async () => (await call('GET', '/api/notifications/preferences')).body.data.preferences.postFailed, PATIENT)
      .toMatchObject({ list: true, mail: false })
    expect(await page.getByRole('switch', { name: 'A post fails, or a part of it: In the console' }).isDisabled()).toBe(
      true,
    )
  })

  it('makes an API key and shows it once', async () => {
    const { page } = await world.newUser('/settings/keys')
    await press(page, 'New key')
    await page.getByRole('textbox', { name: 'Name' }).fill('An agent')
    await press(page, 'Create the key')
    const key = await page.locator('pre', { hasText: /^po_live_/ }).innerText()
    const called = await fetch(`${world.url}/api/keys/current`, { headers: { authorization: `Bearer ${key}` } })
    expect(called.status).toBe(200)
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: 'An agent' }).waitFor()
    await page.reload()
    await page.getByRole('cell', { name: 'An agent' }).waitFor()
    expect(await page.getByText(key).count()).toBe(0)
    await press(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No keys yet').waitFor()
  })
})

it('every page has no barriers and no sideways scrolling, wide and on a phone, light and dark', async () => {
  const { page, userId, call } = await world.newUser()
  await giveDemo(world.service.context, userId)
  const { body } = await call('GET', '/api/posts?status=PARTIAL_SUCCESS')
  const found: Record<string, unknown> = {}
  for (const [path, heading] of [...PAGES, [`/posts/${body.data.posts[0]._id}`, 'Post'] as const]) {
    await page.goto(world.url + path)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    await page.waitForLoadState('networkidle')
    const flaws = await findFlaws(page)
    if (Object.keys(flaws).length > 0) found[path] = flaws
  }
  expect(found).toEqual({})
})

it('taking a post back names the platforms where a person has to delete it', async () => {
  const { page, userId, call } = await world.newUser()
  await giveDemo(world.service.context, userId)
  const { body } = await call('GET', '/api/posts?status=COMPLETED&platform=instagram&limit=1')
  const postId: string = body.data.posts[0]._id
  // The picture of the sample data is nowhere.
  const posts = world.service.context.database.connection.collection<{ _id: string }>('posts')
  await posts.updateOne({ _id: postId }, { $set: { 'content.mediaItems': [], platformSpecificContent: {} } })
  await page.goto(`${world.url}/posts/${postId}`)
  await press(page, 'More')
  await page.getByRole('menuitem', { name: 'Take back' }).click()
  const question = page.getByRole('dialog', { name: 'Take the post back?' })
  await question.getByText('Delete it in their apps yourself').waitFor()
  const [removed, byHand] = await question.getByRole('list').allInnerTexts()
  expect(byHand).toContain('Instagram')
  expect(removed).toContain('Facebook')
  expect(removed).not.toContain('Instagram')
})

it('the pages of a visitor have no barriers', async () => {
  const page = await world.visit('/login')
  for (const path of ['/login', '/register', '/forgot-password', '/reset-password']) {
    await page.goto(world.url + path)
    await page.getByRole('heading').first().waitFor()
    expect([path, await findFlaws(page)]).toEqual([path, {}])
  }
})

it('the pages of the operator have no barriers, and change a user', async () => {
  const { userId, secrets } = await world.service.logIn()
  const users = world.service.context.database.connection.collection<{ _id: string }>('users')
  await users.updateOne({ _id: userId }, { $set: { role: 'admin' } })
  const page = await world.visit('/admin')
  await logIn(page, secrets)
  await page.getByText('Object storage', { exact: true }).waitFor()
  const tabs = { Queues: 'Punctuality', 'Dead letters': 'Dead letters', 'Audit log': 'Audit log', Users: 'Users' }
  for (const [tab, part] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('region', { name: part }).waitFor()
    await page.waitForLoadState('networkidle')
    expect([tab, await findFlaws(page)]).toEqual([tab, {}])
  }
  const other = await world.service.logIn()
  await page.getByRole('textbox', { name: 'Search users' }).fill(other.secrets.email)
  await page.getByRole('row', { name: other.secrets.email }).getByRole('link').click()
  await page.waitForURL(`${world.url}/admin/users/${other.userId}`)
  await page.getByRole('textbox', { name: /^Posts/ }).fill('77')
  await press(page, 'Save')
  await page.getByText('Saved.').waitFor()
  expect((await world.service.context.users.findById(other.userId))?.limits.maxPosts).toBe(77)
})

it('the best hours of an account are proposed as its slots, with the posts that show it', async () => {
  const { page, userId } = await world.newUser()
  const { context } = world.service
  await connectAccounts(context, userId, ['bluesky'])
  const accountId = (await context.accounts.findDefault(userId, 'bluesky'))!._id
  const WEEK_MS = 7 * 86_400_000
  // Four posts in the same hour of the week, and one of another day with less.
  const times = [1, 2, 3, 4].map((weeks) => new Date(Date.now() - weeks * WEEK_MS))
  const posts = [...times, new Date(Date.now() - WEEK_MS / 2)].map((completedAt, index) => ({
    ...{ post: publishedPost({ userId, completedAt }), completedAt, likes: index < times.length ? 9 : 1 },
  }))
  await storePosts(
    context,
    posts.map(({ post }) => post),
  )
  const snapshots = posts.map(({ post, completedAt, likes }) => ({
    ...{ userId, postId: post._id, platform: 'bluesky' as const, target: null, accountId, completedAt },
    ...{ slot: completedAt, takenAt: completedAt, lastSeenAt: completedAt },
    ...{ ...NO_COUNTS, likes, ...deriveMetrics({ ...NO_COUNTS, likes }, 10), followerCountAtSnapshot: 10 },
  }))
  await context.database.transaction((session) => context.snapshots.save(snapshots, session))

  await page.goto(`${world.url}/settings/slots`)
  const own = page.getByRole('region', { name: /^Bluesky/ })
  await own.getByRole('button', { name: /^Best times/ }).click()
  await own.getByText(/: 9 engagement on average of 4 posts$/).waitFor()
  await own.getByRole('button', { name: /^Add \w+ \d\d:00 to/ }).click()
  await own.getByRole('button', { name: /^Remove \w+ \d\d:00$/ }).waitFor()
  const { plans } = await context.slots.find(userId)
  const hour = String(times[0]!.getUTCHours()).padStart(2, '0')
  expect(plans).toMatchObject([{ kind: 'account', id: accountId, times: [{ time: `${hour}:00` }] }])
})

it('the analytics of the console show all that was collected', async () => {
  const { page, userId } = await world.newUser()
  await giveDemo(world.service.context, userId)
  await open(page, 'Analytics')
  const part = (name: string) => page.getByRole('region', { name })
  await part('Engagement per day').locator('svg.recharts-surface path.recharts-area-area').first().waitFor()
  await part('Followers').locator('svg.recharts-surface path.recharts-line-curve').nth(5).waitFor()
  expect(await part('Platforms').getByRole('row').count()).toBe(7)
  await part('Best hours').getByRole('img').waitFor()
  await part('Top posts').getByRole('row').nth(10).waitFor()
  await page.getByText('7 days').click()
  await page.waitForURL(/period=7d/)
  await page.reload()
  await page.getByRole('radio', { name: '7 days', checked: true }).waitFor({ state: 'attached' })

  await page.getByRole('combobox', { name: 'Account' }).click()
  await page.getByRole('option', { name: 'Bluesky' }).click()
  await page.getByRole('heading', { name: /^Analytics of Bluesky / }).waitFor()
  await page.emulateMedia({ media: 'print' })
  await page.getByText('Created on').waitFor()
  await part('Top posts').getByRole('row').nth(1).waitFor()
  const chart = part('Engagement per day').locator('svg.recharts-surface').first()
  await expect.poll(async () => (await chart.boundingBox())?.width, PATIENT).toBeGreaterThan(300)
  expect(await page.getByRole('navigation').isVisible()).toBe(false)
  expect(await page.getByRole('button').count()).toBe(0)
})

it('the pages leave no error in the log of the browser', () => {
  expect(world.problems).toEqual([])
})
