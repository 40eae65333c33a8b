import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import type { RunningPlatform, UserApi } from '../../sandbox/platforms/sandbox-platform.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { ALL_QUEUES } from '../support/delivery-world.ts'
import { controlOf } from '../support/platform-control.ts'
import { PLATFORM_TRAITS } from '../support/platform-traits.ts'
import { unique } from '../support/servers.ts'
import { workerBluesky } from '../support/worker-bluesky.ts'
import { findFlaws } from './axe.ts'
import { press, startBrowserWorld, textField, type BrowserWorld } from './world.ts'

/** Threads and first comments in the console, on platforms that publish them as replies and on one that joins them. */

const ON = ['bluesky', 'mastodon', 'tumblr'] as const
const dir = mkdtempSync(join(tmpdir(), 'postonce-threads-'))
/** For what a worker does. */
const PATIENT = { timeout: 60_000 }

let platforms: RunningPlatform[]
let world: BrowserWorld

beforeAll(async () => {
  platforms = await startPlatforms(dir, { bluesky: await workerBluesky() })
  world = await startBrowserWorld((url) => ({
    ...Object.assign({}, ...platforms.map((platform) => platform.env(url))),
    ...ALL_QUEUES,
  }))
})

afterAll(async () => {
  await world?.stop()
  await Promise.all((platforms ?? []).map((platform) => platform.stop()))
  await (await workerBluesky()).reset()
  rmSync(dir, { recursive: true, force: true })
})

/** Opens the composer for a new user with an account on each of the platforms. */
async function openComposer() {
  const user = await world.newUser()
  const api: UserApi = {
    call: async (method, path, body) => (await user.call(method, path, body)).body.data,
    follow: async (address) =>
      String((await world.service.app.inject({ url: address.replace(world.url, '') })).headers.location),
  }
  const used = platforms.filter(({ fronts }) => ON.some((platform) => platform in fronts))
  for (const { connect } of used) await connect(unique('t').replace(/\W/g, ''), api)
  await user.page.goto(`${world.url}/compose`)
  await textField(user.page).waitFor()
  return user
}

const controlFor = (platform: Platform) => controlOf(Object.fromEntries(listFronts(platforms))[platform]!.control)

const segmentField = (page: Page, number: number) => page.getByLabel(`Text of post ${number}`, { exact: true })

async function writeThread(page: Page, name: string): Promise<void> {
  await textField(page).fill(`${name} one`)
  await press(page, 'Add a post to the thread')
  await segmentField(page, 2).fill(`${name} three`)
  await press(page, 'Add a post to the thread')
  await segmentField(page, 3).fill(`${name} two`)
  await press(page, 'Move post 3 up')
  await press(page, 'Add a first comment')
  await page.getByLabel('First comment').fill(`${name} comment`)
}

/** The delivery of a platform on the page of a post. */
const delivery = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Accounts' }).getByRole('listitem').filter({ hasText: name })

it('a thread with a comment is published on three platforms with its parts, is edited, and is taken back', async () => {
  const { page, call } = await openComposer()
  await writeThread(page, 'Harbour')
  // Tumblr joins threads, and has no comments.
  await page.getByText('Tumblr has no first comments. Choose what happens there.').first().waitFor()
  await page.getByRole('radio', { name: 'Join to one post' }).click()
  await page.getByText('Tumblr has no first comments: it becomes part of the text.').first().waitFor()
  const preview = page.getByRole('article', { name: 'Preview for Tumblr' })
  await preview.getByText('Joined to one post.').waitFor()

  await page.getByRole('button', { name: /^More options/ }).click()
  await page.getByRole('textbox', { name: 'Content warning' }).fill('Boats')
  await page.getByRole('switch', { name: 'Add a poll' }).click()
  await page.getByText('The options of a poll must be different and not empty.').first().waitFor()
  expect(await findFlaws(page)).toEqual({})
  await page.getByRole('switch', { name: 'Add a poll' }).click()

  await press(page, 'Publish now')
  await page.waitForURL(/\/posts\/[0-9a-f]{24}$/)
  for (const name of ['Bluesky', 'Mastodon']) {
    const links = delivery(page, name).getByRole('link', { name: / in a new tab$/ })
    const names = async () => (await links.allInnerTexts()).map((text) => text.trim())
    await expect.poll(names, PATIENT).toEqual(['Post 1', 'Post 2', 'Post 3', 'First comment'])
  }
  expect((await controlFor('mastodon').ledger()).map(({ text }) => text)).toEqual(
    ['one', 'two', 'three', 'comment'].map((word) => `Harbour ${word}`),
  )

  const events = page.getByRole('region', { name: 'What happened' })
  await events.getByRole('button', { name: /^Show \d+ earlier events$/ }).click()
  await events.getByText('Waiting', { exact: true }).waitFor()

  await press(page, 'More')
  await page.getByRole('menuitem', { name: 'Edit published' }).click()
  const form = page.getByRole('dialog', { name: 'Edit the published post' })
  await form.getByText('Bluesky lets no program edit posts.').waitFor()
  await form.getByLabel('Text').fill('Harbour edited')
  await form.getByRole('button', { name: 'Edit' }).click()
  const accounts = page.getByRole('region', { name: 'Accounts' })
  await expect.poll(() => accounts.getByText(/^Edited/).count(), PATIENT).toBe(2)
  expect((await controlFor('mastodon').ledger()).map(({ text }) => text)).toContain('Harbour edited')

  await press(page, 'More')
  await page.getByRole('menuitem', { name: 'Take back everywhere' }).click()
  const question = page.getByRole('dialog', { name: 'Take the post back?' })
  for (const name of ['Bluesky', 'Mastodon', 'Tumblr']) await question.getByText(name).waitFor()
  await question.getByRole('button', { name: 'Take it back' }).click()
  await expect.poll(() => accounts.getByText(/^Taken back/).count(), PATIENT).toBe(ON.length)
  const { post } = (await call('GET', `/api/posts/${page.url().split('/').pop()}`)).body.data
  expect(post.platformStatuses.map(({ status }: { status: string }) => status)).toEqual([
    'deleted',
    'deleted',
    'deleted',
  ])
  expect(await controlFor('mastodon').ledger()).toEqual([])
  expect(world.problems).toEqual([])
})

it('a thread that is refused halfway lists what is published, and a retry publishes the rest', async () => {
  const { page } = await openComposer()
  const { calls, refusals } = PLATFORM_TRAITS.mastodon
  await controlFor('mastodon').fault({ ...calls.publish, skip: 1, times: 1, action: refusals.definite })
  await writeThread(page, 'Storm')
  await page.getByRole('radio', { name: 'Leave these platforms out' }).click()
  await page.getByText('Not published on Tumblr').waitFor()
  await press(page, 'Publish now')
  const mastodon = delivery(page, 'Mastodon')
  await mastodon.getByText('Retry publishes the 2 remaining posts and the comment.').waitFor(PATIENT)
  await mastodon.getByText('To change it, take back what is published first, then correct it.').waitFor()
  expect(await delivery(page, 'Tumblr').count()).toBe(0)
  expect(await findFlaws(page)).toEqual({})
  await mastodon.getByRole('button', { name: 'Retry' }).click()
  await expect.poll(() => mastodon.getByRole('link', { name: / in a new tab$/ }).count(), PATIENT).toBe(4)
})
