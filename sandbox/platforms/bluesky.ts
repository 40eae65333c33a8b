import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccountMaker, type BlueskyAccount } from './bluesky/accounts.ts'
import { APP_VIEW_DID, createAppView } from './bluesky/app-view.ts'
import { openAppViewCounts, type AppViewKnobs } from './bluesky/app-view-counts.ts'
import { createPdsClient, type PdsClient } from './bluesky/pds-client.ts'
import { startPdsThread, type PdsThread } from './bluesky/pds-host.ts'
import { APP_PATHS } from './bluesky/pages.ts'
import { createBlueskyPlatform } from './bluesky/platform.ts'
import { createVideoService, VIDEO_PATHS, type VideoKnobs } from './bluesky/video-service.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { readJson, writeJson } from './json-file.ts'
import { closeServer, listenOnLoopback } from './listen.ts'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'

export type { BlueskyAccount }

export interface BlueskyOptions {
  /** The data folder; by default a temporary folder that is deleted on stop. */
  dir?: string
  port?: number
  controlPort?: number
  crowd?: Crowd
}

export interface Bluesky {
  /** URL of the fault proxy in front of the server, which our service calls, and of the pages of posts. */
  url: string
  control: string
  /** URL of the server itself, without the proxy. */
  pdsUrl: string
  /** URL of the directory with the accounts' DID documents. */
  directoryUrl: string
  /** The behaviour of the video service. */
  video: VideoKnobs
  /** Returns the account with this handle (under `.test`), created if needed. It survives a restart. */
  createAccount(input: { handle: string }): Promise<BlueskyAccount>
  /** Restores the behaviour of a new server: no faults, logged requests, failures of videos, or posts in the ledger. */
  reset(): Promise<void>
  stop(): Promise<void>
}

const VIDEO_PROCESSING_MS = 1_000

/**
 * Starts a real Bluesky server: `@atproto/pds` with a DID directory, a small AppView, a small video service and the
 * fault proxy.
 * All data is under `dir`. DID documents name the proxy, so every client goes through it.
 */
export async function startBluesky(options: BlueskyOptions = {}): Promise<Bluesky> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'postonce-bluesky-')))
  mkdirSync(dir, { recursive: true })
  // Connected accounts store the proxy's URL, so its port stays the same across starts if possible.
  const ports = readJson<{ proxy?: number; control?: number }>(join(dir, 'ports.json'), {})

  let server: { thread: PdsThread; client: PdsClient; createAccount: Bluesky['createAccount'] } | undefined
  const started = () => {
    if (!server) throw new Error('The Bluesky server is still starting')
    return server
  }
  const pds = () => started().client
  const appViewKnobs: AppViewKnobs = { lagMs: 0, hidden: new Set() }
  const counts = openAppViewCounts(dir, appViewKnobs, options.crowd ?? NO_CROWD)
  const video: VideoKnobs = { processingMs: VIDEO_PROCESSING_MS, failures: [] }
  const videoService = createVideoService(dir, pds, video)
  const videoUrl = await listenOnLoopback(videoService)
  const appView = createAppView(pds, counts, appViewKnobs)
  const appViewUrl = await listenOnLoopback(appView)
  const platform = createBlueskyPlatform({
    dir,
    createAccount: (input) => started().createAccount(input),
    counts,
    appView: appViewKnobs,
    appUrl: () => proxy.url,
    pds,
    operator: () => started().thread.operator,
  })
  const proxy = await startFaultProxy({
    platform,
    target(path) {
      if (path.startsWith(VIDEO_PATHS)) return videoUrl
      return path.startsWith(APP_PATHS) ? appViewUrl : started().thread.pdsUrl
    },
    port: options.port ?? ports.proxy ?? 0,
    controlPort: options.controlPort ?? ports.control ?? 0,
  })
  writeJson(join(dir, 'ports.json'), {
    proxy: portOf(proxy.url),
    control: portOf(proxy.control),
  })

  async function stop(): Promise<void> {
    await proxy.stop()
    await server?.thread.stop()
    await closeServer(appView)
    await closeServer(videoService)
    if (!options.dir) await rm(dir, { recursive: true, force: true })
  }

  try {
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
    directoryUrl: thread.directoryUrl,
    video,
    createAccount,
    async reset() {
      proxy.reset()
      appViewKnobs.lagMs = 0
      video.processingMs = VIDEO_PROCESSING_MS
      video.failures.length = 0
      await platform.forgetAccounts()
    },
    stop,
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** Runs as a separate process: prints the addresses as one line of JSON and runs until SIGINT or SIGTERM. */
async function main(): Promise<void> {
  const dir = process.argv[2]
  const { url, control, pdsUrl, stop } = await startBluesky(dir ? { dir } : {})
  process.stdout.write(`${JSON.stringify({ url, control, pdsUrl })}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(0)))
}

if (import.meta.main) await main()
