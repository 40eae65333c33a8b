import { listMediaItems, type Contents } from '../../domain/posts/content.ts'
import { MISSING_FILE, nameFile } from '../../domain/posts/media-files.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

/**
 * Keeps the media of a post from being deleted until the post is stored.
 * @param known keys that the stored post has already: whether their files exist is checked when it is published
 * @returns a problem for every deleted file
 */
export async function holdMedia(
  { uploads }: Pick<CommandContext, 'uploads'>,
  post: Contents,
  known: ReadonlySet<string> = new Set(),
): Promise<Problem[]> {
  const items = new Map(listMediaItems(post).map((item) => [item.storageKey, item]))
  const deleted = await uploads.hold([...items.keys()])
  return deleted
    .filter((key) => !known.has(key))
    .map((key) => ({
      path: 'content.mediaItems',
      code: 'MEDIA_MISSING',
      message: `${nameFile(items.get(key)!)} ${MISSING_FILE}`,
    }))
}
