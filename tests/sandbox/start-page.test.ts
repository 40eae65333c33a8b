import { afterAll, beforeAll, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../sandbox/platforms/mastodon.ts'
import { startStartPage } from '../../sandbox/start-page.ts'

let mastodon: Mastodon
let page: Awaited<ReturnType<typeof startStartPage>>

beforeAll(async () => {
  mastodon = await startMastodon()
  const { url, control } = mastodon
  const nobody = { url: 'http://127.0.0.1:1', control: 'http://127.0.0.1:1' }
  page = await startStartPage(
    [
      ['mastodon', { url, control }],
      ['tumblr', nobody],
    ],
    [{ title: 'mails', url: 'http://127.0.0.1:2' }],
    0,
  )
})

afterAll(async () => {
  await page?.stop()
  await mastodon?.stop()
})

it('shows what the public sees on every platform that answers, and the way to the other servers', async () => {
  const account = mastodon.createAccount({ username: 'ann' })
  mastodon.publishElsewhere(account, 'Good <b>morning</b>')
  const html = await (await fetch(page.url)).text()
  expect(html).toContain('<b>ann</b>')
  expect(html).toContain('Good &lt;b&gt;morning&lt;/b&gt;')
  expect(html).toContain('<a href="http://127.0.0.1:2">mails</a>')
  expect(html).toMatch(/<h2>Tumblr<\/h2>.*<p>It does not answer/s)
  expect((await fetch(`${page.url}other`)).status).toBe(404)
})
