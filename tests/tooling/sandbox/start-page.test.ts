import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBluesky, type Bluesky } from '../../../sandbox/platforms/bluesky.ts'
import { startMastodon, type Mastodon } from '../../../sandbox/platforms/mastodon.ts'
import { startStartPage } from '../../../sandbox/start-page.ts'
import { xrpcOf } from '../../platforms/shared/support.ts'

let mastodon: Mastodon
let second: Mastodon
let bluesky: Bluesky
let page: Awaited<ReturnType<typeof startStartPage>>

beforeAll(async () => {
  ;[mastodon, second, bluesky] = await Promise.all([startMastodon(), startMastodon(), startBluesky()])
  const { url, control } = mastodon
  const unreachable = { url: 'http://127.0.0.1:1', control: 'http://127.0.0.1:1' }
  page = await startStartPage(
    [
      { platform: 'mastodon', title: 'Mastodon', url, control },
      { platform: 'mastodon', title: 'Mastodon 2', url: second.url, control: second.control },
      { platform: 'tumblr', title: 'Tumblr', ...unreachable },
      { platform: 'bluesky', title: 'Bluesky', url: bluesky.url, control: bluesky.control },
    ],
    [{ title: 'mails', url: 'http://127.0.0.1:2' }],
    0,
  )
})

afterAll(async () => {
  await page?.stop()
  await Promise.all([mastodon?.stop(), second?.stop()])
  await bluesky?.stop()
})

it('the start page creates a Bluesky account and shows its handle and app password', async () => {
  const create = (name: string) =>
    fetch(`${page.url}bluesky/accounts`, { method: 'POST', body: new URLSearchParams({ name }) })
  const html = await (await create('newcomer')).text()
  expect(html).toContain('<code>newcomer.test</code>')
  const { appPassword } = await bluesky.createAccount({ handle: 'newcomer.test' })
  expect(html).toContain(`<code>${appPassword}</code>`)
  const session = await xrpcOf(bluesky.url)<{ did: string }>('com.atproto.server.createSession', {
    body: { identifier: 'newcomer.test', password: appPassword },
  })
  expect(session.status).toBe(200)
  const refused = await create('No good')
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('A handle has 3 to 18')])
})

it('the start page shows the public posts of every running platform and links to the other servers', async () => {
  const account = mastodon.createAccount({ username: 'ann' })
  mastodon.publishElsewhere(account, 'Good <b>morning</b>')
  second.publishElsewhere(second.createAccount({ username: 'ben' }), 'Good evening')
  const html = await (await fetch(page.url)).text()
  expect(html).toContain('<b>ann</b>')
  expect(html).toContain('Good &lt;b&gt;morning&lt;/b&gt;')
  expect(html).toMatch(/<h2>Mastodon 2<\/h2>.*<b>ben<\/b>.*Good evening.*<h2>Tumblr/s)
  expect(html).toContain('<a href="http://127.0.0.1:2">mails</a>')
  expect(html).toMatch(/<h2>Tumblr<\/h2>.*<p>This server does not respond/s)
  expect((await fetch(`${page.url}other`)).status).toBe(404)
})
