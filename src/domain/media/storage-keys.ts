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

/** Returns the type that the ending of a key says; null for an ending that this service does not give. */
export function parseMediaType(key: string): MediaType | null {
  const extension = key.slice(key.lastIndexOf('.') + 1)
  return MEDIA_TYPES.find((type) => EXTENSIONS[type] === extension && type !== 'image/jpg') ?? null
}

/** The folders of object storage. Objects in `removed` are pending deletion and can be restored. */
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

/** Returns the media type of a user's avatar by its key; null for a key that this service did not create for the user. */
export function parseAvatarType(userId: string, key: string): AvatarType | null {
  const [, owner, extension] = AVATAR_KEY.exec(key) ?? []
  return owner === userId ? (AVATAR_TYPES.find((type) => EXTENSIONS[type] === extension) ?? null) : null
}

/** Returns the object key of a post's media: under its owner's prefix and without any client input. */
export function mediaKey(userId: string, uuid: string, type: MediaType): string {
  return `${mediaPrefix(userId)}${uuid}.${EXTENSIONS[type]}`
}

/** Returns the object key of a user's media by the last part of the key. */
export function toMediaKey(userId: string, name: string): string {
  return `${mediaPrefix(userId)}${name}`
}

/** Returns the pattern of the keys of a user's media, of one kind or of both. */
export function mediaKeyPattern(userId: string, kind?: 'image' | 'video'): RegExp {
  const types = MEDIA_TYPES.filter((type) => type.startsWith(kind ?? ''))
  return new RegExp(`^${mediaPrefix(userId)}[^/]+\\.(${types.map((type) => EXTENSIONS[type]).join('|')})$`)
}

/**
 * Returns the object key of a converted copy, under the prefix of the original's owner.
 * @param digest hash of the copy's bytes, so that equal copies share one object
 */
export function copyKey(ownKey: string, digest: string, type: MediaType): string {
  return `${FOLDERS.copies}${parseOwnerId(ownKey)}/${digest}.${EXTENSIONS[type]}`
}

/** Returns the id of the user who owns a media object. */
export function parseOwnerId(ownKey: string): string {
  return ownKey.split('/')[1] ?? ''
}

/** Returns all folders of object storage with a user's objects. */
export function listUserFolders(userId: string): string[] {
  const own = [FOLDERS.uploads, FOLDERS.copies, FOLDERS.avatars].map((folder) => `${folder}${userId}/`)
  return [...own, ...own.map(removedKey)]
}

/** Returns the key under which an unused upload waits for its deletion. */
export function removedKey(key: string): string {
  return `${FOLDERS.removed}${key}`
}

/** Returns the key that a removed object had before. */
export function originalKey(removed: string): string {
  return removed.slice(FOLDERS.removed.length)
}

/**
 * Returns true when the key stays under the user's own prefix however often a server on the way decodes it. Rejects dot segments
 * (encoded or not), control characters and keys over 1,024 bytes.
 */
export function isOwnMediaKey(userId: string, key: string): boolean {
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) return false
  let decoded = key
  for (let layer = 0; layer <= MAX_ENCODING_LAYERS; layer += 1) {
    if (!isPlainKeyUnder(mediaPrefix(userId), decoded)) return false
    const decodedAgain = decode(decoded)
    if (decodedAgain === decoded) return true
    if (decodedAgain === null) return false
    decoded = decodedAgain
  }
  return false
}

function mediaPrefix(userId: string): string {
  return `${FOLDERS.uploads}${userId}/`
}

function isPlainKeyUnder(prefix: string, key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern must match control characters
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
