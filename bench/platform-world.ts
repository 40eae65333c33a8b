import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerEntry, LoggedRequest } from '../sandbox/platforms/proxied-platform.ts'
import type { Front } from '../sandbox/platforms/shared/simulator.ts'
import { findObjectStorage, startObjectStorage } from '../sandbox/servers/object-storage.ts'
import { createPost } from '../src/commands/posts/create-post.ts'
import { requestMediaUpload } from '../src/commands/media/request-media-upload.ts'
import type { Platform } from '../src/domain/shared/platforms.ts'
import { openService } from './service.ts'
import { signUp } from './users.ts'
import type { World } from './world.ts'

export interface MediaFile {
  bytes: Uint8Array
  mimeType: string
}

export interface Author {
  userId: string
  /** Storage keys of the files that were uploaded for this user, in the order of the files. */
  media: { storageKey: string; mimeType: string }[]
}

interface Simulators {
  connectUrl: string
  fronts: Partial<Record<Platform, Front>>
}

/** How long platforms take for what they process. */
export interface Processing {
  image: number
  video: number
}

/** The service as it is with all platforms of the sandbox, object storage, and users who have connected everything. */
export async function openPlatformWorld(world: World, processing: Processing) {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-bench-platforms-'))
  const storage = await startObjectStorage({
    program: await findObjectStorage(),
    logFile: join(dir, 'storage.log'),
    dir: join(dir, 'storage'),
    accessKeyId: 'bench',
    secretAccessKey: randomBytes(16).toString('hex'),
  })
  const service = await openService(world, {
    simulators: 'simulators',
    env: { BENCH_PROCESSING: JSON.stringify(processing) },
    settings: {
      S3_ENDPOINT: storage.endpoint,
      S3_PUBLIC_URL: `${storage.endpoint}/postonce`,
      S3_ACCESS_KEY_ID: storage.accessKeyId,
      S3_SECRET_ACCESS_KEY: storage.secretAccessKey,
    },
  })
  const { context, worker } = service
  await context.storage.ensureBucket([context.config.FRONTEND_URL])
  const { connectUrl, fronts } = service.ready as Simulators
  const platforms = Object.keys(fronts) as Platform[]
  const ask = async <T>(platform: Platform, what: 'ledger' | 'requests'): Promise<T[]> =>
    (await fetch(`${fronts[platform]!.control}/${what}`)).json() as Promise<T[]>

  return {
    context,
    platforms,
    worker,

    /** A user with every platform connected and the files uploaded. */
    async author(files: MediaFile[]): Promise<Author> {
      const { userId, token } = await signUp(context)
      const body = JSON.stringify({ name: `b${userId.slice(-12)}`, token })
      const connected = await fetch(connectUrl, { method: 'POST', body })
      if (!connected.ok) throw new Error(`Connecting failed: ${await connected.text()}`)
      const media = []
      for (const { bytes, mimeType } of files) {
        const { uploadUrl, storageKey } = await requestMediaUpload(context, { userId, contentType: mimeType })
        const answer = await fetch(uploadUrl, {
          method: 'PUT',
          headers: { 'content-type': mimeType },
          body: new Uint8Array(bytes),
        })
        if (!answer.ok) throw new Error(`An upload answered ${answer.status}`)
        media.push({ storageKey, mimeType })
      }
      return { userId, media }
    },

    async publish(
      { userId }: Author,
      post: { text: string; platforms: Platform[]; media?: Author['media']; dueAt?: number },
    ): Promise<string> {
      const { data } = await createPost(context, {
        userId,
        input: {
          content: { text: post.text, mediaItems: post.media ?? [] },
          selectedPlatforms: post.platforms,
          ...(post.dueAt !== undefined && { scheduledAt: new Date(post.dueAt).toISOString() }),
        },
        source: 'api',
        idempotency: null,
      })
      return data.postId
    },

    /** When the visible calls of each text arrived on the platform, milliseconds since the epoch: as often as it is to be seen there. */
    async arrivals(platform: Platform): Promise<Map<string, number[]>> {
      const [ledger, requests] = await Promise.all([
        ask<LedgerEntry>(platform, 'ledger'),
        ask<LoggedRequest>(platform, 'requests'),
      ])
      // When its call arrived is what the proxy noted, where the call carries the text; else when the post came into being.
      const noted = new Map(requests.map(({ text, receivedAt }) => [text, Date.parse(receivedAt)]))
      const arrivals = new Map<string, number[]>()
      for (const { text, createdAt } of ledger) {
        const at = noted.get(text) ?? Date.parse(createdAt)
        arrivals.set(text, [...(arrivals.get(text) ?? []), at])
      }
      return arrivals
    },

    async stop(): Promise<void> {
      await service.stop()
      await storage.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type PlatformWorld = Awaited<ReturnType<typeof openPlatformWorld>>
