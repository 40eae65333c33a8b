import { isOwnMediaKey } from '../../domain/media/storage-keys.ts'
import { listMediaItems, type Contents } from '../../domain/posts/content.ts'
import type { MediaFile, MediaFiles } from '../../domain/posts/media-files.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CommandContext } from '../context.ts'

/** Together for all files of a post. */
const LONGEST_WAIT_MS = 3 * SECOND

/** Reads the user's own files of a post, as far as they can be read in time. Never fails. */
export async function readMediaFiles(
  { media }: Pick<CommandContext, 'media'>,
  userId: string,
  post: Contents,
): Promise<MediaFiles> {
  const items = new Map<string, MediaItem>()
  for (const item of listMediaItems(post)) if (isOwnMediaKey(userId, item.storageKey)) items.set(item.storageKey, item)
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS)
  const unread = (): MediaFile => ({ state: 'unread' })
  const read = async ([storageKey, item]: [string, MediaItem]) =>
    [storageKey, await media.readFile(item, { signal }).catch(unread)] as const
  return new Map(await Promise.all([...items].map(read)))
}
