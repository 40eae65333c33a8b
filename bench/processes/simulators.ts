import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createApiClient } from '../../sandbox/api-client.ts'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'
import { listFronts, startPlatforms } from '../../sandbox/platforms/all.ts'
import { userApi } from '../../sandbox/seed.ts'
import { readConfig } from '../../src/config/schema.ts'
import { serve, setting } from '../processes.ts'

// This process runs every platform of the sandbox, so that their work is not on the thread of the load generator.

const config = readConfig(process.env)
const platforms = await startPlatforms(setting('BENCH_DIR'), { processingMs: JSON.parse(setting('BENCH_PROCESSING')) })

/** Connects an account on each platform for a user of the API, over the platform's own pages. */
const connector = createServer((request, response) => {
  void (async () => {
    const { name, token } = (await json(request)) as { name: string; token: string }
    const user = userApi(createApiClient(config.PUBLIC_URL), token)
    for (const platform of platforms) await platform.connect(name, user)
    response.end()
  })().catch((error: unknown) => response.writeHead(500).end(String(error)))
})
const connectUrl = await listenOnLoopback(connector)

serve(
  {
    connectUrl,
    fronts: Object.fromEntries(listFronts(platforms)),
    env: Object.assign({}, ...platforms.map((platform) => platform.env(config.PUBLIC_URL))),
  },
  async () => {
    await closeServer(connector)
    await Promise.all(platforms.map(({ stop }) => stop()))
  },
)
