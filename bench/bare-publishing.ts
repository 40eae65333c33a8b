import { randomUUID } from 'node:crypto'
import type { Context } from '../src/context.ts'
import type { Platform } from '../src/domain/shared/platforms.ts'
import type { Author } from './platform-world.ts'

const LONGEST_MS = 120_000

/** Publishes like a service without records: the adapters' calls in order, on all platforms concurrently. */
export async function publishBarely(
  { credentials, platforms, storage }: Context,
  { userId, media }: Author,
  names: Platform[],
  text: string,
  file: number,
): Promise<void> {
  const { storageKey, mimeType } = media[file]!
  const mediaItems = [{ storageKey, mimeType, storageUrl: storage.publicUrl(storageKey) }]
  const post = { postId: randomUUID(), content: { text, mediaItems } }
  await Promise.all(
    names.map(async (platform) => {
      const options = { signal: AbortSignal.timeout(LONGEST_MS) }
      const account = (await credentials.get(userId, platform, options))!
      const handles = new Map<string, string>()
      const log = {
        key: randomUUID(),
        startedAt: new Date(),
        get: (name: string) => handles.get(name),
        isRepeat: false,
        save: async (name: string, value: string) => void handles.set(name, value),
      }
      const adapter = platforms.find(platform)!
      await adapter.prepare(post, account, log, options)
      await adapter.publish(post, account, log, options)
    }),
  )
}
