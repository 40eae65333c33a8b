import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createApiClient } from '../../sandbox/api-client.ts'
import { createPdsClient } from '../../sandbox/platforms/bluesky/pds-client.ts'
import { startBluesky } from '../../sandbox/platforms/bluesky.ts'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { startMastodon } from '../../sandbox/platforms/mastodon.ts'
import { connectByPage, type UserApi } from '../../sandbox/platforms/sandbox-platform.ts'
import { startThreads } from '../../sandbox/platforms/threads.ts'
import { userApi } from '../../sandbox/seed.ts'
import { readConfig } from '../../src/config/schema.ts'
import { buildCallbackUrl } from '../../src/domain/accounts/platform-connect.ts'
import type { CountedPlatform, Owned, OwnRequest } from '../collecting.ts'
import { serve, setting } from '../processes.ts'

// This process simulates accounts with posts on platforms that report 25 posts, 20 posts and one post per call.

const config = readConfig(process.env)
const dir = setting('BENCH_DIR')
const plenty = { max: 1_000_000, seconds: 300 }
const bluesky = await startBluesky({ dir: join(dir, 'bluesky') })
const mastodon = await startMastodon({
  dir: join(dir, 'mastodon'),
  rateLimits: { api: plenty, media: plenty, deletes: plenty, statuses: plenty },
})
const threads = await startThreads({ dir: join(dir, 'threads') })
const pds = createPdsClient(bluesky.pdsUrl)

const MOST_WRITES = 200
const POST = 'app.bsky.feed.post'

const own: Record<CountedPlatform, (name: string, texts: string[], api: UserApi) => Promise<Owned>> = {
  async bluesky(name, texts, api) {
    const { did, handle, appPassword } = await bluesky.createAccount({ handle: `${name}.test` })
    await api.call('POST', '/api/platform/bluesky/connect', { identifier: handle, appPassword })
    const body = { identifier: handle, password: appPassword }
    const { accessJwt } = (await pds.call('POST', 'com.atproto.server.createSession', { body })) as {
      accessJwt: string
    }
    const createdAt = new Date().toISOString()
    const writes = texts.slice(0, MOST_WRITES).map((text) => ({
      $type: 'com.atproto.repo.applyWrites#create',
      collection: POST,
      value: { $type: POST, text, createdAt },
    }))
    const { results } = (await pds.call('POST', 'com.atproto.repo.applyWrites', {
      body: { repo: did, writes },
      authorization: `Bearer ${accessJwt}`,
    })) as { results: { uri: string }[] }
    return { accountId: did, postIds: results.map(({ uri }) => uri) }
  },

  async mastodon(name, texts, api) {
    const account = mastodon.createAccount({ username: name })
    await connectByPage('mastodon', account.id, api)
    return { accountId: account.id, postIds: texts.map((text) => mastodon.publishElsewhere(account, text).id) }
  },

  async threads(name, texts, api) {
    const { id } = threads.createAccount({ username: name })
    await connectByPage('threads', id, api)
    return { accountId: id, postIds: texts.map((text) => threads.store.publishElsewhere(id, text).id) }
  },
}

const server = createServer((request, response) => {
  void (async () => {
    const { platform, name, posts, token } = (await json(request)) as OwnRequest
    const texts = Array.from({ length: posts }, (_, index) => `Number ${index}`)
    const owned = await own[platform](name, texts, userApi(createApiClient(config.PUBLIC_URL), token))
    response.end(JSON.stringify(owned))
  })().catch((error: unknown) => response.writeHead(500).end(String(error)))
})
const ownUrl = await listenOnLoopback(server)
const mastodonApp = mastodon.createApp({
  name: 'postonce',
  redirectUris: [buildCallbackUrl(config.PUBLIC_URL, 'mastodon')],
})
const threadsApp = threads.createApp({
  name: 'postonce',
  redirectUris: [buildCallbackUrl(config.PUBLIC_URL, 'threads')],
})

serve(
  {
    ownUrl,
    threadsControl: threads.control,
    env: {
      BLUESKY_ENTRY_URL: bluesky.url,
      BLUESKY_DIRECTORY_URL: bluesky.url,
      MASTODON_INSTANCE_URL: mastodon.url,
      MASTODON_CLIENT_ID: mastodonApp.clientId,
      MASTODON_CLIENT_SECRET: mastodonApp.clientSecret,
      THREADS_APP_ID: threadsApp.id,
      THREADS_APP_SECRET: threadsApp.secret,
      THREADS_AUTHORIZE_URL: threads.url,
      THREADS_GRAPH_URL: threads.url,
    },
  },
  async () => {
    await closeServer(server)
    await Promise.all([bluesky.stop(), mastodon.stop(), threads.stop()])
  },
)
