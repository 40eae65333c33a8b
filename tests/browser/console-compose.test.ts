import type { components } from '@postonce/sdk'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectAccounts } from '../support/published.ts'
import { findBarriers } from './axe.ts'
import { startBrowserWorld, type BrowserWorld } from './world.ts'

type Post = components['schemas']['Post']

/** The composer of the console: what it stores, and that nothing typed is lost or stored twice. */

let world: BrowserWorld

beforeAll(async () => {
  world = await startBrowserWorld(() => ({ WORKER_QUEUES: 'notifying' }))
})
afterAll(() => world?.stop())

const PICTURE = {
  name: 'sunrise.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
}
const CREATE = /\/api\/posts\?past=refuse$/

/** Opens the composer for a new user with an account on Bluesky and one on Facebook. */
async function openComposer() {
  const user = await world.newUser()
  await connectAccounts(world.service.context, user.userId, ['bluesky', 'facebook'])
  const { page } = user
  await page.goto(`${world.url}/compose`)
  await textOf(page).waitFor()
  const edit = async (id: string) => {
    await page.goto(`${world.url}/compose?id=${id}`)
    await textOf(page).waitFor()
  }
  const posts = async () => (await user.call('GET', '/api/posts?limit=10')).body.data.posts as Post[]
  const read = async (id: string) => (await user.call('GET', `/api/posts/${id}`)).body.data.post as Post
  const draft = async (text: string): Promise<string> =>
    (
      await user.call('POST', '/api/posts', {
        content: { text },
        selectedPlatforms: ['bluesky'],
        status: 'DRAFT',
      })
    ).body.data.postId
  return { ...user, edit, posts, read, draft }
}

const textOf = (page: Page): Locator => page.getByLabel('Text', { exact: true })
const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
const untilStored = (page: Page) => page.waitForURL(/\/posts\/[0-9a-f]{24}$/)
const restored = (page: Page) => page.getByText('Restored what you had not saved')

describe('the composer', () => {
  it('a post takes the next slot, which the calendar showed as free', async () => {
    const { page, posts } = await openComposer()
    await page.goto(`${world.url}/settings/slots`)
    const own = page.getByRole('region', { name: /^Bluesky/ })
    for (const day of ['Mon', 'Thu']) await own.getByText(day, { exact: true }).click()
    await own.getByLabel(/^Time of a new slot/).fill('09:30')
    await own.getByRole('button', { name: /^Add slots/ }).click()
    await own.getByRole('button', { name: 'Remove Monday 09:30' }).waitFor()
    await own.getByRole('button', { name: 'Remove Thursday 09:30' }).click()
    await own.getByRole('row', { name: /^Thursday/ }).waitFor({ state: 'detached' })

    const monday = new Date(Date.now() + 86_400_000)
    monday.setUTCHours(0, 0, 0, 0)
    while (monday.getUTCDay() !== 1) monday.setUTCDate(monday.getUTCDate() + 1)
    const day = monday.toISOString().slice(0, 10)
    await page.goto(`${world.url}/calendar?view=week&date=${day}`)
    const free = page.getByRole('button', { name: /Free slot/ })
    await free.first().click()
    await page.waitForURL(`${world.url}/compose?at=*`)
    expect(new URL(page.url()).searchParams.get('at')).toMatch(/T09:30:00\.000Z$/)

    await textOf(page).fill('For the next slot')
    await page.getByText('Next slot', { exact: true }).click()
    await page.getByText(/^The next free slot is /).waitFor()
    await button(page, 'Schedule').click()
    // The composer was opened from the week.
    await page.waitForURL(`${world.url}/calendar?*`)
    const [post] = await posts()
    expect([post!.status, post!.scheduledAt]).toEqual(['SCHEDULED', expect.stringMatching(/T09:30:00\.000Z$/)])
  })

  it('a post for two accounts gets a variant, a time in another zone and a preview of each', async () => {
    const { page, posts } = await openComposer()
    await textOf(page).fill('Good morning, see https://example.com/news #sunrise')
    await page.getByText('51 / 300').waitFor()
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('combobox', { name: 'Another text or other files for' }).click()
    await page.getByRole('option', { name: 'Facebook' }).click()
    await page.getByLabel('Text for Facebook').fill('Good morning, Facebook')
    const preview = (name: string) => page.getByRole('article', { name: `Preview for ${name}` })
    await preview('Facebook').getByText('Good morning, Facebook').waitFor()
    await preview('Bluesky').getByText('#sunrise', { exact: true }).waitFor()

    await page.getByText('Later', { exact: true }).click()
    await page.getByRole('combobox', { name: 'Timezone' }).fill('America/Los_Angeles')
    await page.getByRole('option', { name: 'America/Los_Angeles' }).click()
    await page.getByText('That is ').waitFor()
    await page.getByText('51 / 300').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await button(page, 'Schedule').click()
    await untilStored(page)
    expect(await posts()).toMatchObject([
      {
        status: 'SCHEDULED',
        timezone: 'America/Los_Angeles',
        platformSpecificContent: { facebook: { text: 'Good morning, Facebook' } },
        selectedPlatforms: ['bluesky', 'facebook'],
      },
    ])
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("unsaved"))')).toEqual([])
  })

  it('a text that is too long is reported while it is typed', async () => {
    const { page } = await openComposer()
    await textOf(page).fill('a'.repeat(301))
    await page.getByText('301 / 300').waitFor()
    await page.getByText('This must change before it can be published').waitFor()
  })

  it('pictures are uploaded and described, and stored with their post in their order', async () => {
    const { page, posts } = await openComposer()
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([PICTURE, { ...PICTURE, name: 'noon.png' }])
    const description = page.getByLabel('Description of sunrise.png')
    await description.waitFor()
    await page.getByLabel('Description of noon.png').waitFor()
    await page.getByText('Without a description').first().waitFor()
    await description.fill('The sun over a harbour')
    await page.getByRole('img', { name: 'The sun over a harbour' }).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await button(page, 'Save as draft').click()
    await untilStored(page)
    expect((await posts())[0]!.content.mediaItems).toMatchObject([
      { originalFilename: 'sunrise.png', altText: 'The sun over a harbour' },
      { originalFilename: 'noon.png' },
    ])
  })

  it('a text that is not saved survives a reload, and can be discarded', async () => {
    const { page } = await openComposer()
    await textOf(page).fill('Not saved yet')
    await page.reload()
    await restored(page).waitFor()
    expect(await textOf(page).inputValue()).toBe('Not saved yet')
    await button(page, 'Discard it').click()
    await restored(page).waitFor({ state: 'detached' })
    expect(await textOf(page).inputValue()).toBe('')
    await page.reload()
    await textOf(page).waitFor()
    expect(await restored(page).count()).toBe(0)
  })

  it('text and time of the address are given to the post once', async () => {
    const { page } = await openComposer()
    await page.goto(`${world.url}/compose?text=Shared&at=2040-05-01T07:30:00.000Z`)
    await textOf(page).fill('Shared and changed')
    await page.reload()
    await restored(page).waitFor()
    expect(await textOf(page).inputValue()).toBe('Shared and changed')
    await button(page, 'Schedule').waitFor()
  })

  it('a double click makes one post', async () => {
    const { page, posts } = await openComposer()
    await textOf(page).fill('Once')
    await button(page, 'Save as draft').dblclick()
    await untilStored(page)
    expect(await posts()).toHaveLength(1)
  })

  it('a post whose response was lost is not made again after a reload', async () => {
    const { page, posts } = await openComposer()
    await textOf(page).fill('Once')
    await page.route(CREATE, async (route) => {
      await route.fetch()
      await route.abort()
    })
    await button(page, 'Save as draft').click()
    await page.getByText('The post was not stored').waitFor()
    await page.unroute(CREATE)
    await page.reload()
    await restored(page).waitFor()
    await button(page, 'Save as draft').click()
    await untilStored(page)
    expect(await posts()).toHaveLength(1)
  })

  it('a refused post says why and keeps what was typed', async () => {
    const { page } = await openComposer()
    await textOf(page).fill('Patience')
    // Longer than the SDK waits by itself.
    const body = { success: false, code: 'RATE_LIMITED', message: 'Too many requests.' }
    await page.route(CREATE, (route) => route.fulfill({ status: 429, headers: { 'retry-after': '90' }, json: body }))
    await button(page, 'Save as draft').click()
    await page.getByText('Try again in 90 seconds').waitFor()
    expect(await textOf(page).inputValue()).toBe('Patience')
    await page.unroute(CREATE)
    await button(page, 'Save as draft').click()
    await untilStored(page)
  })

  it('a draft that was changed elsewhere is neither overwritten nor lost', async () => {
    const { page, call, draft, edit, read } = await openComposer()
    const id = await draft('First')
    await edit(id)
    await textOf(page).fill('Mine')
    await call('PATCH', `/api/posts/${id}`, { content: { text: 'Theirs' } })
    await button(page, 'Save as draft').click()
    await page.getByText('The post was changed elsewhere meanwhile').waitFor()
    expect((await read(id)).content.text).toBe('Theirs')

    await button(page, 'Load theirs').click()
    expect(await textOf(page).inputValue()).toBe('Theirs')
    await button(page, 'Bring back what I typed').click()
    expect(await textOf(page).inputValue()).toBe('Mine')

    await call('PATCH', `/api/posts/${id}`, { content: { text: 'Theirs again' } })
    await button(page, 'Save as draft').click()
    await button(page, 'Keep mine').click()
    await untilStored(page)
    expect((await read(id)).content.text).toBe('Mine')
  })

  it('a change that was made elsewhere before a reload is noticed', async () => {
    const { page, call, draft, edit } = await openComposer()
    const id = await draft('First')
    await edit(id)
    await textOf(page).fill('Mine')
    await call('PATCH', `/api/posts/${id}`, { content: { text: 'Theirs' } })
    await page.reload()
    await page.getByText('The post was changed elsewhere meanwhile').waitFor()
    expect(await textOf(page).inputValue()).toBe('Mine')
  })

  it('what was typed for a post that was deleted elsewhere becomes a new draft', async () => {
    const { page, call, draft, edit, posts } = await openComposer()
    const id = await draft('First')
    await edit(id)
    await textOf(page).fill('Mine')
    await call('DELETE', `/api/posts/${id}`)
    await button(page, 'Save as draft').click()
    await button(page, 'Save as a new draft').click()
    // The page of the new draft has the heading of the deleted one.
    await expect.poll(posts, { timeout: 20_000 }).toMatchObject([{ status: 'DRAFT', content: { text: 'Mine' } }])
  })

  it('no page of these tests reported an error', () => {
    expect(world.problems).toEqual([])
  })
})
