import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { insteadOf } from '../../../sandbox/platforms/foreign-responses.ts'
import { startMastodon, type Mastodon } from '../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { equalPostsPublished, expiredLoginReported, publishedOnce } from './once.ts'
import { uploadImage } from '../../faults/image.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { controlOf, type Control } from '../../support/platform-control.ts'
import { testConfig, unique } from '../../support/servers.ts'

const STATUSES = '/api/v1/statuses'
const PUBLISH_TIMEOUT_MS = 1_500
const SETTLE_MS = 8_000

let mastodon: Mastodon
let control: Control
let world: DeliveryWorld

beforeAll(async () => {
  mastodon = await startMastodon({ honoursKeys: false, namesApplication: false })
  control = controlOf(mastodon.control)
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'mastodon')]
  const { clientId, clientSecret } = mastodon.createApp({ name: 'postonce', redirectUris })
  world = await startDeliveryWorld({
    MASTODON_INSTANCE_URL: mastodon.url,
    MASTODON_CLIENT_ID: clientId,
    MASTODON_CLIENT_SECRET: clientSecret,
    PUBLISH_TIMEOUT_MS,
    UNANSWERED_CALL_SETTLE_MS: SETTLE_MS,
  })
})
afterEach(() => control.clearFaults())
afterAll(async () => {
  await world?.stop()
  await mastodon?.stop()
})

/** Creates a user with a connected Mastodon account. */
async function connectUser() {
  const user = await world.user()
  const account = mastodon.createAccount({ username: unique('u').replace(/\W/g, '') })
  const { body } = await user.call('GET', '/api/platform/mastodon/connect')
  const { pathname, search } = new URL(await consent(body.data.authUrl, account.id))
  const back = await world.app.inject({ url: `${pathname}${search}` })
  expect(back.headers.location).toContain('success=mastodon_connected')
  return {
    ...user,
    accountId: account.id,
    publish: (text: string, selectedPlatforms = ['mastodon']) => user.create({ content: { text }, selectedPlatforms }),
    publicPosts: async () => (await control.ledger()).filter((entry) => entry.account === account.username),
  }
}

it('a post is published on Mastodon and Bluesky', async () => {
  const user = await connectUser()
  const { status, platformStatuses } = await user.until(await user.publish('Both', ['bluesky', 'mastodon']))
  expect(status).toBe('COMPLETED')
  const [entry] = await user.publicPosts()
  expect(entry).toMatchObject({ text: 'Both' })
  expect(platformStatuses[1]).toMatchObject({
    platformPostId: entry!.id,
    platformPostUrl: `${mastodon.url}/@${entry!.account}/${entry!.id}`,
  })
  expect(await user.published()).toMatchObject([{ text: 'Both' }])
})

const subject = { control: () => control, call: { method: 'POST', path: STATUSES }, connectUser }
publishedOnce(subject)
equalPostsPublished(subject)
expiredLoginReported('mastodon', subject)

it('a post accepted long after its timeout is published once by a server that ignores the key', async () => {
  const user = await connectUser()
  // The server accepts the post after the first reconcile, which finds nothing, and before the second.
  const action = { delayMs: PUBLISH_TIMEOUT_MS + 4_000 }
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action })
  const { status, platformStatuses } = await user.until(await user.publish('Stalled'))
  expect(status).toBe('COMPLETED')
  const records = await user.publicPosts()
  expect(records).toHaveLength(1)
  expect(platformStatuses[0]).toMatchObject({ platformPostId: records[0]!.id, attemptCount: 1 })
})

it('a 404 from a proxy in front of the server delays a post without losing it', async () => {
  const user = await connectUser()
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action: insteadOf('a page with 404') })
  const { status, platformStatuses } = await user.until(await user.publish('Behind a proxy'))
  expect(status).toBe('COMPLETED')
  const records = await user.publicPosts()
  expect(records).toHaveLength(1)
  expect(platformStatuses[0]).toMatchObject({ platformPostId: records[0]!.id, attemptCount: 2 })
})

it('a 413 from a proxy in front of the server delays a text without failing it', async () => {
  const user = await connectUser()
  const action = { status: 413, body: '<h1>Request Entity Too Large</h1>' }
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action })
  expect(await user.until(await user.publish('Only a text'))).toMatchObject({ status: 'COMPLETED' })
  expect(await user.publicPosts()).toHaveLength(1)
})

it('a post that the server accepted is published once, although it answers with its own 404 and ignores the key', async () => {
  const user = await connectUser()
  const action = { statusAfterAccept: 404, body: { error: 'Nicht gefunden' } }
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action })
  const { status, platformStatuses } = await user.until(await user.publish('Accepted and not found'))
  expect(status).toBe('COMPLETED')
  const records = await user.publicPosts()
  expect(records).toHaveLength(1)
  expect(platformStatuses[0]).toMatchObject({ platformPostId: records[0]!.id, attemptCount: 1 })
})

it('a post that came back without its image is completed with a warning, which its notification repeats', async () => {
  const user = await connectUser()
  const body = { id: '1', created_at: new Date().toISOString(), content: '', url: null, media_attachments: [] }
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action: { status: 200, body } })
  const content = { text: 'Without its image', mediaItems: [await uploadImage(user.call)] }
  const { status, platformStatuses } = await user.until(await user.create({ content, selectedPlatforms: ['mastodon'] }))
  expect(status).toBe('COMPLETED')
  const warning = 'Mastodon published the post without its images and videos.'
  expect(platformStatuses[0]).toMatchObject({ status: 'completed', error: null, warning })
  await poll(
    () => world.notificationsOf(user.userId),
    (all) => all.some(({ message }) => message.endsWith(`“Without its image”. ${warning}`)),
  )
})

it('a 401 from a proxy in front of the server leaves the account connected', async () => {
  const user = await connectUser()
  await control.fault({ method: 'POST', path: STATUSES, times: 1, action: insteadOf('a page with 401') })
  expect(await user.until(await user.publish('Not logged out'))).toMatchObject({ status: 'COMPLETED' })
  const { body } = await user.call('GET', '/api/platform/find')
  expect(body.data.mastodon.health).toMatchObject({ needsReconnection: false })
})
