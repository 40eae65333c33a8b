import type { LibraryItem } from '../../commands/media/library.ts'

/** Presents an upload. The facts of its file replace what the newest post states. */
export function presentMedia(
  { upload, mimeType, sizeBytes, uses, facts }: LibraryItem,
  publicUrl: (key: string) => string,
) {
  const { originalFilename, width, height, duration } = { ...uses?.item, ...facts }
  return {
    id: upload._id.split('/').at(-1)!,
    storageKey: upload._id,
    storageUrl: publicUrl(upload._id),
    mimeType: facts?.mimeType ?? uses?.item.mimeType ?? mimeType,
    sizeBytes,
    createdAt: upload.createdAt.toISOString(),
    ...(originalFilename !== undefined && { originalFilename }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(duration !== undefined && { duration }),
    postCount: uses?.count ?? 0,
    posts: uses?.posts ?? [],
  }
}
