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
  /** The files that were uploaded for this user, in order. */
  media: { storageKey: string; mimeType: string }[]
}

interface Simulators {
  connectUrl: string
  fronts: Partial<Record<Platform, Front>>
}

/** How long platforms process a file, milliseconds. */
export interface Processing {
  image: number
  video: number
}

/** Starts the service with all platforms of the sandbox and object storage. Its users have connected every platform. */
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
    simulatorEnv: { BENCH_PROCESSING: JSON.stringify(processing) },
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
  const readControl = async <T>(platform: Platform, list: 'ledger' | 'requests'): Promise<T[]> =>
    (await fetch(`${fronts[platform]!.control}/${list}`)).json() as Promise<T[]>

  return {
    context,
    platforms,
    worker,

    /** Creates a user with every platform connected and the files uploaded. */
    async makeAuthor(files: MediaFile[]): Promise<Author> {
      const { userId, token } = await signUp(context)
      const body = JSON.stringify({ name: `b${userId.slice(-12)}`, token })
      const connected = await fetch(connectUrl, { method: 'POST', body })
      if (!connected.ok) throw new Error(`Connecting failed: ${await connected.text()}`)
      const media = []
      for (const { bytes, mimeType } of files) {
        const { uploadUrl, storageKey } = await requestMediaUpload(context, { userId, contentType: mimeType })
        const response = await fetch(uploadUrl, {
          method: 'PUT',
          headers: { 'content-type': mimeType },
          body: new Uint8Array(bytes),
        })
        if (!response.ok) throw new Error(`An upload failed with status ${response.status}`)
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

    /** Returns the arrival times of every public post by its text, milliseconds since the epoch. A duplicate adds another time. */
    async arrivals(platform: Platform): Promise<Map<string, number[]>> {
      const [ledger, requests] = await Promise.all([
        readControl<LedgerEntry>(platform, 'ledger'),
        readControl<LoggedRequest>(platform, 'requests'),
      ])
      // The proxy logs the arrival of calls that contain the text; for all others, the creation time of the post counts.
      const loggedAt = new Map(requests.map(({ text, receivedAt }) => [text, Date.parse(receivedAt)]))
      const arrivals = new Map<string, number[]>()
      for (const { text, createdAt } of ledger) {
        const at = loggedAt.get(text) ?? Date.parse(createdAt)
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
