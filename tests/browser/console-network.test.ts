import type { Page, Request, WebSocketRoute } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bluesky } from '../../sandbox/platforms/bluesky.ts'
import { DAY, HOUR } from '../../src/domain/shared/times.ts'
import { DELIVERING } from '../support/delivery-world.ts'
import { unique } from '../support/servers.ts'
import { workerBluesky } from '../support/worker-bluesky.ts'
import { open, press, startBrowserWorld, textField, untilSignedIn, type BrowserWorld } from './world.ts'

/** The console on a slow network, without one, and with a connection for live updates that breaks. */

/** For what takes several requests on the slow network. */
const PATIENT = { timeout: 60_000 }

let bluesky: Bluesky
let world: BrowserWorld

beforeAll(async () => {
  bluesky = await workerBluesky()
  world = await startBrowserWorld(() => ({
    BLUESKY_ENTRY_URL: bluesky.url,
    BLUESKY_VIDEO_URL: bluesky.url,
    BLUESKY_DIRECTORY_URL: bluesky.directoryUrl,
    ...DELIVERING,
  }))
})

afterAll(async () => {
  await world?.stop()
  await bluesky?.reset()
})

/** A user who has an account on Bluesky, and posts through the API. */
async function author() {
  const { handle, appPassword } = await bluesky.createAccount({ handle: `${unique('u')}.test` })
  const user = await world.newUser()
  await user.call('POST', '/api/platform/bluesky/connect', { identifier: handle, appPassword })
  await user.page.reload()
  await untilSignedIn(user.page)
  const create = async (body: object): Promise<string> => {
    const { status, body: created } = await user.call('POST', '/api/posts', { selectedPlatforms: ['bluesky'], ...body })
    expect(status).toBe(201)
    return created.data.postId
  }
  const texts = async (): Promise<string[]> =>
    (await user.call('GET', '/api/posts?limit=50')).body.data.posts.map(
      ({ content }: { content: { text: string } }) => content.text,
    )
  return { ...user, create, texts }
}

/** Slows the page's network down: every response takes at least so long, and arrives at the rate of a bad mobile connection. */
async function slowDown(page: Page, latency = 1_500): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  // As for a new visitor: nothing was loaded before.
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  const bytesPerSecond = 200_000
  const throughput = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond }
  await devtools.send('Network.emulateNetworkConditions', { offline: false, latency, ...throughput })
}

/** Collects the page's requests that change something. */
function collectChanges(page: Page, path: RegExp): string[] {
  const changes: string[] = []
  page.on('request', (request) => {
    if (isChange(request) && path.test(request.url()))
      changes.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  return changes
}

const isChange = (request: Request) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(request.method())

describe('on a slow network, the console', () => {
  it('says that it is loading before the page and its data are there', async () => {
    const { page, create } = await author()
    await create({ content: { text: 'Worth waiting for' }, status: 'DRAFT' })
    await slowDown(page)
    await page.reload({ waitUntil: 'commit' })
    await page.getByRole('status').getByText('postonce is loading').waitFor(PATIENT)
    await page.getByRole('status', { name: 'Loading' }).first().waitFor(PATIENT)
    await untilSignedIn(page)
    await open(page, 'Review')
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    await page.getByText('Worth waiting for').waitFor(PATIENT)
    expect(await page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
  })

  it('sends a post once, however often its button is pressed', async () => {
    const { page, texts } = await author()
    const changes = collectChanges(page, /\/api\/posts\?/)
    await page.goto(`${world.url}/compose`)
    await slowDown(page)
    const text = unique('slow')
    await textField(page).fill(text)
    await page.getByRole('button', { name: 'Save as draft' }).dblclick()
    // While it is sent, nothing more can be typed that would be lost.
    await page.getByRole('button', { name: 'Save as draft' }).and(page.locator('[data-loading]')).waitFor()
    await textField(page).click({ force: true })
    await page.keyboard.type('too late')
    expect(await textField(page).inputValue()).toBe(text)
    await page.waitForURL(/\/posts\/[0-9a-f]{24}$/, PATIENT)
    expect(changes).toEqual(['POST /api/posts'])
    expect(await texts()).toEqual([text])
  })

  it('asks and acts once when the answer is clicked twice', async () => {
    const { page, create } = await author()
    const text = unique('asked')
    const postId = await create({ content: { text }, status: 'DRAFT' })
    await page.goto(`${world.url}/posts/${postId}`)
    const changes = collectChanges(page, /\/api\/posts\//)
    await slowDown(page)
    await press(page, 'Publish now')
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).dblclick()
    await page.getByRole('link', { name: 'Open the post' }).waitFor(PATIENT)
    expect(changes).toEqual([`PATCH /api/posts/${postId}`])
    expect(await page.getByText('That did not work').count()).toBe(0)
  })

  it('shows a dragged post in its new place before the service has moved it', async () => {
    const { page, create } = await author()
    const text = unique('dragged')
    const day = new Date(Date.now() + 9 * DAY).toISOString().slice(0, 10)
    const postId = await create({ content: { text }, scheduledAt: `${day}T09:00:00Z` })
    await page.goto(`${world.url}/calendar?view=day&date=${day}`)
    const changes = collectChanges(page, /\/api\/posts\//)
    const event = (time: string) => page.getByRole('button', { name: `Scheduled ${time} ${text}` })
    await event('09:00').waitFor()
    await slowDown(page, 5_000)
    const moved = page.waitForResponse((response) => isChange(response.request()), PATIENT)
    await event('09:00').dragTo(page.getByRole('button', { name: 'Write a post for 11:00:00' }), {
      targetPosition: { x: 200, y: 4 },
    })
    let isMoved = false
    void moved.then(() => (isMoved = true))
    await event('11:00').waitFor()
    expect(isMoved).toBe(false)
    await moved
    await page.getByText('The post is scheduled.').waitFor(PATIENT)
    await event('11:00').waitFor()
    expect(await event('09:00').count()).toBe(0)
    expect(changes).toEqual([`PATCH /api/posts/${postId}`])
  })

  it('keeps what was typed while there is no network, and sends it once when there is', async () => {
    const { page, texts } = await author()
    const changes = collectChanges(page, /\/api\/posts\?/)
    await page.goto(`${world.url}/compose`)
    await textField(page).waitFor()
    await page.context().setOffline(true)
    const text = unique('offline')
    await textField(page).fill(text)
    await press(page, 'Save as draft')
    const failure = page.getByRole('alert').filter({ hasText: 'The post was not stored' })
    await failure.getByText('The service did not respond').waitFor(PATIENT)
    expect(await textField(page).inputValue()).toBe(text)
    await page.context().setOffline(false)
    await press(page, 'Save as draft')
    await page.waitForURL(/\/posts\/[0-9a-f]{24}$/, PATIENT)
    expect(changes.length).toBeGreaterThan(1)
    expect(await texts()).toEqual([text])
  })
})

describe('when the connection for live updates is cut, the console', () => {
  /** Puts itself between the page and the stream of notifications, to cut it. */
  async function interposeStream(page: Page) {
    let isCut = false
    const open = new Set<WebSocketRoute>()
    const attempts = { count: 0 }
    await page.routeWebSocket(/\/api\/notifications\/stream$/, (route) => {
      attempts.count++
      if (isCut) return void route.close({ code: 1001 })
      open.add(route)
      route.connectToServer()
    })
    return {
      attempts,
      async cut(): Promise<void> {
        isCut = true
        await Promise.all([...open].map((route) => route.close({ code: 1001 })))
        open.clear()
      },
      restore: () => void (isCut = false),
    }
  }

  it('connects again, and shows what happened meanwhile without a reload', async () => {
    const { page, create } = await author()
    const stream = await interposeStream(page)
    await page.goto(`${world.url}/notifications`)
    await page.getByText('New ones appear as they happen.').waitFor()
    await open(page, 'Posts')
    const [before, meanwhile, after] = ['before', 'meanwhile', 'after'].map((word) => unique(word)) as [
      string,
      string,
      string,
    ]
    await create({ content: { text: before } })
    await page
      .getByRole('listitem')
      .filter({ hasText: before })
      .getByText('Published', { exact: true })
      .waitFor(PATIENT)

    await stream.cut()
    const postId = await create({ content: { text: meanwhile } })
    await expect.poll(async () => (await world.service.context.posts.find(postId))?.status).toBe('COMPLETED')
    const attempts = stream.attempts.count
    await expect.poll(() => stream.attempts.count).toBeGreaterThan(attempts)
    expect(await page.getByText(meanwhile).count()).toBe(0)

    stream.restore()
    await page
      .getByRole('listitem')
      .filter({ hasText: meanwhile })
      .getByText('Published', { exact: true })
      .waitFor(PATIENT)
    await create({ content: { text: after } })
    await page.getByRole('listitem').filter({ hasText: after }).getByText('Published', { exact: true }).waitFor(PATIENT)
  })

  it('connects as soon as the browser has a network again', async () => {
    const { page, create } = await author()
    const stream = await interposeStream(page)
    await page.goto(`${world.url}/notifications`)
    await page.getByText('New ones appear as they happen.').waitFor()
    await page.context().setOffline(true)
    await stream.cut()
    stream.restore()
    await page.getByText('Not connected at the moment').waitFor()
    await create({ content: { text: unique('offline') }, scheduledAt: new Date(Date.now() + HOUR).toISOString() })
    await page.context().setOffline(false)
    await page.getByText('New ones appear as they happen.').waitFor(PATIENT)
    await page.getByRole('main').getByRole('listitem').first().waitFor()
  })
})

it('the pages leave no error in the log of the browser', () => {
  expect(world.problems).toEqual([])
})
