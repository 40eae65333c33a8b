import { MEDIA_TYPES } from '../posts/post.ts'

type MediaType = (typeof MEDIA_TYPES)[number]

const EXTENSIONS: Record<MediaType, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/jpg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
}

/** The folders of object storage. What is in `removed` is on its way out, and can be brought back. */
export const FOLDERS = { uploads: 'posts/', copies: 'copies/', avatars: 'avatars/', removed: 'removed/' } as const

const MAX_KEY_BYTES = 1_024
const MAX_ENCODING_LAYERS = 3

export function isMediaType(type: string): type is MediaType {
  return (MEDIA_TYPES as readonly string[]).includes(type)
}

export const AVATAR_TYPES = ['image/png', 'image/jpeg', 'image/jpg', 'image/webp'] as const
type AvatarType = (typeof AVATAR_TYPES)[number]

export const MAX_AVATAR_BYTES = 5_000_000

export function isAvatarType(type: string): type is AvatarType {
  return (AVATAR_TYPES as readonly string[]).includes(type)
}

export function avatarKey(userId: string, uuid: string, type: AvatarType): string {
  return `${FOLDERS.avatars}${userId}/${uuid}.${EXTENSIONS[type]}`
}

const AVATAR_KEY = new RegExp(
  `^${FOLDERS.avatars}([0-9a-f]{24})/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.(png|jpg|webp)$`,
)

/** What the name of the user's avatar says it is; null for every key that we did not make for this user. */
export function parseAvatarType(userId: string, key: string): AvatarType | null {
  const [, owner, extension] = AVATAR_KEY.exec(key) ?? []
  return owner === userId ? (AVATAR_TYPES.find((type) => EXTENSIONS[type] === extension) ?? null) : null
}

/** Object key of a post's media: under its owner's prefix, with nothing of the client's in it. */
export function mediaKey(userId: string, uuid: string, type: MediaType): string {
  return `${mediaPrefix(userId)}${uuid}.${EXTENSIONS[type]}`
}

/**
 * Object key of a converted copy, under the prefix of the one who owns the media it was made of.
 * @param digest of the copy's bytes, so that equal copies are one
 */
export function copyKey(ownKey: string, digest: string, type: MediaType): string {
  return `${FOLDERS.copies}${parseOwnerId(ownKey)}/${digest}.${EXTENSIONS[type]}`
}

/** Whose media it is, by their key. */
export function parseOwnerId(ownKey: string): string {
  return ownKey.split('/')[1] ?? ''
}

/** The folders with everything that belongs to a user. */
export function listUserFolders(userId: string): string[] {
  const own = [FOLDERS.uploads, FOLDERS.copies, FOLDERS.avatars].map((folder) => `${folder}${userId}/`)
  return [...own, ...own.map(removedKey)]
}

/** Where an upload goes that no post took. */
export function removedKey(key: string): string {
  return `${FOLDERS.removed}${key}`
}

export function originalKey(removed: string): string {
  return removed.slice(FOLDERS.removed.length)
}

/**
 * Whether the key stays under the user's own prefix, however often a server between us and the object may decode it
 * (safety section 5): no dot segments, encoded or not, no control characters, at most 1,024 bytes.
 */
export function isOwnMediaKey(userId: string, key: string): boolean {
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) return false
  let decoded = key
  for (let layer = 0; layer <= MAX_ENCODING_LAYERS; layer += 1) {
    if (!isPlainKeyUnder(mediaPrefix(userId), decoded)) return false
    const once = decode(decoded)
    if (once === decoded) return true
    if (once === null) return false
    decoded = once
  }
  return false
}

function mediaPrefix(userId: string): string {
  return `${FOLDERS.uploads}${userId}/`
}

function isPlainKeyUnder(prefix: string, key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!key.startsWith(prefix) || /[\\\u0000-\u001f\u007f]/.test(key)) return false
  return key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
