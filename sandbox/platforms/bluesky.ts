import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccountMaker, type BlueskyAccount } from './bluesky/accounts.ts'
import { APP_VIEW_DID, createAppView } from './bluesky/app-view.ts'
import { openAppViewCounts, type AppViewKnobs } from './bluesky/app-view-counts.ts'
import { createPdsClient, type PdsClient } from './bluesky/pds-client.ts'
import { startPdsThread, type PdsThread } from './bluesky/pds-host.ts'
import { createBlueskyPlatform } from './bluesky/platform.ts'
import { createVideoService, VIDEO_PATHS, type VideoKnobs } from './bluesky/video-service.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { readJson, writeJson } from './json-file.ts'
import { closeServer, listenOnLoopback } from './listen.ts'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'

export type { BlueskyAccount }

export interface BlueskyOptions {
  /** Where its data lives; without it in a temporary folder that goes when it stops. */
  dir?: string
  port?: number
  controlPort?: number
  crowd?: Crowd
}

export interface Bluesky {
  /** The fault proxy in front of the server: what our service talks to. */
  url: string
  control: string
  /** The server itself, past the proxy. */
  pdsUrl: string
  /** How the video service beside it behaves. */
  video: VideoKnobs
  /** The account with this handle (under `.test`), made if there is none; the same again after a restart. */
  createAccount(input: { handle: string }): Promise<BlueskyAccount>
  stop(): Promise<void>
}

/**
 * A real Bluesky server on this machine: `@atproto/pds` with a DID directory, a small AppView, a small video service, and the fault
 * proxy in front.
 * All data is under `dir`. DID documents lead to the proxy, so nothing that follows them gets past it.
 */
export async function startBluesky(options: BlueskyOptions = {}): Promise<Bluesky> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'postonce-bluesky-')))
  mkdirSync(dir, { recursive: true })
  // Accounts connected earlier remember the proxy's address, so it stays the same from start to start if it can.
  const ports = readJson<{ proxy?: number; control?: number }>(join(dir, 'ports.json'), {})

  let server: { thread: PdsThread; client: PdsClient; createAccount: Bluesky['createAccount'] } | undefined
  const started = () => {
    if (!server) throw new Error('The Bluesky server is not up yet')
    return server
  }
  const pds = () => started().client
  const appViewKnobs: AppViewKnobs = { lagMs: 0, hidden: new Set() }
  const counts = openAppViewCounts(dir, appViewKnobs, options.crowd ?? NO_CROWD)
  const video: VideoKnobs = { processingMs: 1_000, failures: [] }
  const videoService = createVideoService(dir, pds, video)
  const videoUrl = await listenOnLoopback(videoService)
  const proxy = await startFaultProxy({
    platform: createBlueskyPlatform({
      dir,
      createAccount: (input) => started().createAccount(input),
      counts,
      appView: appViewKnobs,
      pds,
      operator: () => started().thread.operator,
    }),
    target: (path) => (path.startsWith(VIDEO_PATHS) ? videoUrl : started().thread.pdsUrl),
    port: options.port ?? ports.proxy ?? 0,
    controlPort: options.controlPort ?? ports.control ?? 0,
  })
  writeJson(join(dir, 'ports.json'), {
    proxy: portOf(proxy.url),
    control: portOf(proxy.control),
  })
  const appView = createAppView(pds, counts, appViewKnobs)

  async function stop(): Promise<void> {
    await proxy.stop()
    await server?.thread.stop()
    await closeServer(appView)
    await closeServer(videoService)
    if (!options.dir) await rm(dir, { recursive: true, force: true })
  }

  try {
    const appViewUrl = await listenOnLoopback(appView)
    const thread = await startPdsThread({
      dir,
      publicUrl: proxy.url,
      appViewUrl,
      appViewDid: APP_VIEW_DID,
    })
    const client = createPdsClient(thread.pdsUrl)
    server = { thread, client, createAccount: createAccountMaker(dir, client) }
  } catch (error) {
    await stop()
    throw error
  }
  const { thread, createAccount } = started()
  return {
    url: proxy.url,
    control: proxy.control,
    pdsUrl: thread.pdsUrl,
    video,
    createAccount,
    stop,
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** As a process of its own: prints what it started as one line of JSON and stays up until SIGINT or SIGTERM. */
async function main(): Promise<void> {
  const dir = process.argv[2]
  const { url, control, pdsUrl, stop } = await startBluesky(dir ? { dir } : {})
  process.stdout.write(`${JSON.stringify({ url, control, pdsUrl })}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(0)))
}

if (import.meta.main) await main()
