import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Sdk from '../../packages/sdk/src/index.ts'
import { createClient, type Client } from '../../packages/sdk/src/index.ts'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import { ALL_QUEUES, startDeliveryWorld, type DeliveryWorld } from '../support/delivery-world.ts'
import { startBrowser } from './browser.ts'

/** Every method of the SDK, called by a page of another origin than the API. The browser refuses what CORS does not allow. */

/** The paths of the methods of a client, such as `posts.create`. */
type MethodPath<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends (...args: never[]) => unknown
    ? `${Prefix}${K}`
    : MethodPath<T[K], `${Prefix}${K}.`>
}[keyof T & string]

interface InPage {
  sdk: typeof Sdk
  client: Client
  url: string
  secrets: { email: string; password: string }
  /** Creates what many methods need, and returns its id. */
  draft(): Promise<string>
  group(): Promise<string>
  webhook(): Promise<string>
  plan(): Promise<string>
  /** Returns the first item; fails when there is none. */
  first(items: AsyncIterable<unknown>): Promise<unknown>
  /** Returns the error code of a call that the API refuses. */
  refused(call: Promise<unknown>): Promise<string>
}

/** Each function runs in the page, and sees only its argument. */
const CALLS: Record<MethodPath<Client>, (page: InPage) => Promise<unknown>> = {
  request: ({ client }) => client.request('GET', '/api/auth/me'),
  'posts.create': ({ draft }) => draft(),
  'posts.validate': ({ client }) =>
    client.posts.validate({ content: { text: 'Hello' }, selectedPlatforms: ['bluesky'] }),
  'posts.list': ({ client }) => client.posts.list(),
  'posts.iterate': async ({ client, draft, first }) => (await draft()) && first(client.posts.iterate()),
  'posts.calendar': ({ client }) => client.posts.calendar({ from: '2026-05-01', to: '2026-05-31' }),
  'posts.counts': ({ client }) => client.posts.counts({ from: '2026-05-01', to: '2026-05-31' }),
  'posts.get': async ({ client, draft }) => client.posts.get(await draft()),
  'posts.update': async ({ client, draft }) => {
    const { _id, etag } = await client.posts.get(await draft())
    return client.posts.update(_id, { content: { text: 'Changed' } }, { ifMatch: etag })
  },
  'posts.cancel': async ({ client }) => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const later = { content: { text: 'Later' }, selectedPlatforms: ['bluesky' as const], scheduledAt }
    return client.posts.cancel((await client.posts.create(later)).postId)
  },
  'posts.retry': async ({ client, draft, refused }) => refused(client.posts.retry(await draft())),
  'posts.takeBack': async ({ client, draft, refused }) => refused(client.posts.takeBack(await draft())),
  'posts.editPublished': async ({ client, draft, refused }) =>
    refused(client.posts.editPublished(await draft(), { content: { text: 'Edited' } })),
  'posts.delete': async ({ client, draft }) => client.posts.delete(await draft()),
  'posts.duplicate': async ({ client, draft }) => client.posts.duplicate(await draft()),
  'posts.status': async ({ client, draft }) => client.posts.status(await draft()),
  'posts.timeline': async ({ client, draft }) => client.posts.timeline(await draft()),
  'posts.export': async ({ client, draft }) => (await draft()) && (await client.posts.export()).text(),
  'posts.waitUntilPublished': async ({ client }) => {
    const scheduledAt = new Date(Date.now() + 4_000).toISOString()
    const soon = { content: { text: 'Soon' }, selectedPlatforms: ['bluesky' as const], scheduledAt }
    const { status } = await client.posts.waitUntilPublished((await client.posts.create(soon)).postId)
    if (status !== 'COMPLETED') throw new Error(`The post is ${status}`)
    return status
  },
  'media.upload': ({ client }) =>
    client.media.upload(new File(['not a picture'], 'file.png', { type: 'image/png' }), { onProgress: () => {} }),
  'media.list': ({ client }) => client.media.list(),
  'media.iterate': ({ client, first }) => first(client.media.iterate()),
  'media.get': async ({ client }) => client.media.get((await client.media.list()).media[0]!.id),
  'media.delete': async ({ client }) => client.media.delete((await client.media.list()).media[0]!.id),
  'accounts.list': ({ client }) => client.accounts.list(),
  'accounts.limits': ({ client }) => client.accounts.limits(),
  'accounts.connectBluesky': ({ client, refused }) =>
    refused(client.accounts.connectBluesky({ identifier: 'none.test', appPassword: 'wrong' })),
  'accounts.update': async ({ client }) =>
    client.accounts.update((await client.accounts.list())[0]!._id, { label: 'Brand' }),
  'accounts.refresh': async ({ client }) => client.accounts.refresh((await client.accounts.list())[0]!._id),
  'accounts.disconnect': ({ client, refused }) => refused(client.accounts.disconnect('0'.repeat(24))),
  'groups.list': ({ client }) => client.groups.list(),
  'groups.create': ({ group }) => group(),
  'groups.get': async ({ client, group }) => client.groups.get(await group()),
  'groups.update': async ({ client, group }) => {
    const { id, etag } = await client.groups.get(await group())
    return client.groups.update(id, { color: '#112233' }, { ifMatch: etag })
  },
  'groups.delete': async ({ client, group }) => client.groups.delete(await group()).then(() => true),
  'slots.get': ({ client }) => client.slots.get(),
  'slots.replace': ({ client }) => client.slots.replace({ slots: [] }),
  'slots.upcoming': async ({ client }) =>
    Array.isArray(await client.slots.upcoming({ from: '2090-05-01', to: '2090-05-31' })),
  'analytics.overview': ({ client }) => client.analytics.overview(),
  'analytics.timeline': ({ client }) => client.analytics.timeline(),
  'analytics.growth': ({ client }) => client.analytics.growth(),
  'analytics.topPosts': ({ client }) => client.analytics.topPosts(),
  'analytics.platforms': ({ client }) => client.analytics.platforms(),
  'analytics.heatmap': ({ client }) => client.analytics.heatmap(),
  'analytics.download': async ({ client }) => (await client.analytics.download('heatmap')).text(),
  'events.list': ({ client }) => client.events.list(),
  'events.iterate': async ({ client, draft, first }) => (await draft()) && first(client.events.iterate()),
  'events.follow': async ({ client, draft, first }) => (await draft()) && first(client.events.follow({ after: 0 })),
  'webhooks.create': async ({ client, webhook }) => client.webhooks.delete(await webhook()),
  'webhooks.list': ({ client }) => client.webhooks.list(),
  'webhooks.get': async ({ client, webhook }) => client.webhooks.get(await webhook()),
  'webhooks.update': async ({ client, webhook }) => {
    const { id, etag } = await client.webhooks.get(await webhook())
    return client.webhooks.update(id, { description: 'CRM' }, { ifMatch: etag })
  },
  'webhooks.delete': async ({ client, webhook }) => client.webhooks.delete(await webhook()),
  'webhooks.rotateSecret': async ({ client, webhook }) => client.webhooks.rotateSecret(await webhook()),
  'webhooks.test': async ({ client, webhook }) => client.webhooks.test(await webhook()),
  'webhooks.redeliverSince': async ({ client, webhook }) =>
    client.webhooks.redeliverSince(await webhook(), new Date(Date.now() - 60_000).toISOString()),
  'webhooks.redeliver': async ({ client, webhook, refused }) =>
    refused(client.webhooks.redeliver(await webhook(), '0'.repeat(24))),
  'webhooks.iterateDeliveries': async ({ client, webhook, first }) => {
    const id = await webhook()
    await client.webhooks.test(id)
    return first(client.webhooks.iterateDeliveries(id))
  },
  'imports.plan': ({ plan }) => plan(),
  'imports.list': ({ client }) => client.imports.list(),
  'imports.get': async ({ client, plan }) => client.imports.get(await plan()),
  'imports.iterateRows': async ({ client, plan, first }) => first(client.imports.iterateRows(await plan())),
  'imports.apply': async ({ client, plan }) => client.imports.apply(await plan()),
  'imports.pause': async ({ client, plan, refused }) => refused(client.imports.pause(await plan())),
  'imports.resume': async ({ client, plan, refused }) => refused(client.imports.resume(await plan())),
  'imports.cancel': async ({ client, plan }) => client.imports.cancel(await plan()),
  'imports.delete': async ({ client, plan }) => client.imports.delete(await plan()).then(() => true),
  'imports.waitUntilApplied': async ({ client, plan }) => {
    const id = await plan()
    await client.imports.apply(id)
    return client.imports.waitUntilApplied(id)
  },
  'notifications.iterate': async ({ client, draft, first }) => (await draft()) && first(client.notifications.iterate()),
  'notifications.markRead': ({ client, refused }) => refused(client.notifications.markRead('0'.repeat(24))),
  'notifications.markAllRead': ({ client }) => client.notifications.markAllRead(),
  'notifications.preferences': ({ client }) => client.notifications.preferences(),
  'notifications.setPreferences': ({ client }) => client.notifications.setPreferences({ postFailed: { mail: true } }),
}

const PAGE = "<!doctype html><script type=module>import * as sdk from '/index.ts'; globalThis.sdk = sdk</script>"

let world: DeliveryWorld
let browser: Awaited<ReturnType<typeof startBrowser>>
let pages: Server
let page: Page
const conditionalRequests: string[] = []

beforeAll(async () => {
  browser = await startBrowser()
  pages = createServer(({ url = '/' }, response) => {
    const isPage = url === '/'
    const answer = isPage ? PAGE : readSource(url)
    void Promise.resolve(answer).then((text) => {
      response.writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' }).end(text)
    })
  })
  const frontend = `http://localhost:${new URL(await listenOnLoopback(pages)).port}`
  const port = await freePort()
  const url = `http://localhost:${port}`
  world = await startDeliveryWorld({ ...ALL_QUEUES, FRONTEND_URL: frontend, PUBLIC_URL: url })
  await world.app.listen({ host: '127.0.0.1', port })
  const { secrets } = await world.user()
  page = await browser.newPage()
  page.on('request', async (request) => {
    if (request.headers()['if-none-match']) conditionalRequests.push(request.url())
  })
  await page.goto(`${frontend}/`)
  await page.evaluate(openClient, { url, secrets })
})

afterAll(async () => {
  await browser?.stop()
  await world?.stop()
  if (pages) await closeServer(pages)
})

async function readSource(path: string): Promise<string> {
  return stripTypeScriptTypes(await readFile(new URL(`../../packages/sdk/src${path}`, import.meta.url), 'utf8'))
}

/** Runs in the page. */
async function openClient({ url, secrets }: Pick<InPage, 'url' | 'secrets'>): Promise<void> {
  const { sdk } = globalThis as unknown as { sdk: typeof Sdk }
  const client = sdk.createClient({ url, session: await sdk.logIn({ url, ...secrets }) })
  let count = 0
  const inPage: InPage = {
    sdk,
    client,
    url,
    secrets,
    draft: async () => {
      count += 1
      const body = { content: { text: `Draft ${count}` }, selectedPlatforms: ['bluesky' as const] }
      return (await client.posts.create({ ...body, status: 'DRAFT' })).postId
    },
    group: async () => {
      count += 1
      return (await client.groups.create({ name: `Group ${count}` })).id
    },
    webhook: async () => {
      for (const { id } of await client.webhooks.list()) await client.webhooks.delete(id)
      return (await client.webhooks.create({ url: 'https://example.com/hooks' })).id
    },
    plan: async () => {
      count += 1
      const post = { content: { text: `Row ${count}` }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }
      return (await client.imports.plan(JSON.stringify([post]), { contentType: 'application/json' })).id
    },
    first: async (items) => {
      for await (const item of items) return item
      throw new Error('There is no item')
    },
    refused: (call) =>
      call.then(
        () => Promise.reject(new Error('The API did not refuse the call')),
        (error: unknown) => {
          if (error instanceof sdk.ApiError) return error.code
          throw error
        },
      ),
  }
  Object.assign(globalThis, { inPage })
}

function runInPage(call: (inPage: InPage) => Promise<unknown>): Promise<unknown> {
  return page.evaluate(`(${String(call)})(globalThis.inPage)`)
}

function listMethods(part: object, prefix = ''): string[] {
  return Object.entries(part).flatMap(([name, value]: [string, object]) =>
    typeof value === 'function' ? [`${prefix}${name}`] : listMethods(value, `${prefix}${name}.`),
  )
}

it('every method of a client is called here', () => {
  expect(Object.keys(CALLS)).toEqual(listMethods(createClient({ url: 'https://example.test', apiKey: 'key' })))
})

it.each(Object.entries(CALLS))('a page of another origin can call %s', async (_name, call) => {
  expect(await runInPage(call)).toBeTruthy()
})

it('a page of another origin renews its session with the cookie', async () => {
  const renewed = await runInPage(async ({ sdk, url }) => {
    let isRenewed = false
    const ended = { accessToken: 'ended', refreshToken: null }
    const client = sdk.createClient({ url, session: ended, onSessionChange: () => void (isRenewed = true) })
    await client.accounts.list()
    return isRenewed
  })
  expect(renewed).toBe(true)
})

it('a page of another origin reads the id and the waiting time of a refusal', async () => {
  const refusal = await runInPage(async ({ sdk, url }) => {
    const logIn = () => sdk.logIn({ url, email: 'stranger@example.test', password: 'wrong' }).catch((error) => error)
    for (;;) {
      const error = await logIn()
      if (error.status === 429) return [typeof error.requestId, error.retryAfterSeconds > 0]
      if (!(error instanceof sdk.ApiError)) throw error
    }
  })
  expect(refusal).toEqual(['string', true])
})

it('a wait for a post asks for changes only', () => {
  expect(conditionalRequests).not.toEqual([])
})
