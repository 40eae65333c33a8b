import { mapOwnMedia, type Contents } from './content.ts'
import type { Content, ContentOverride, MediaItem, PostStatus } from './post.ts'
import { toMediaKind } from './posting-rules.ts'
import { trimFullStop } from '../shared/text.ts'

/** The properties of a file as its content shows them. One that could not be determined is missing. */
export interface MediaFacts {
  mimeType: string
  sizeBytes: number
  /** Pixels, upright. */
  width?: number
  height?: number
  /** Pixels of all frames of an image, or of one frame of a video. */
  pixels?: number
  isAnimated?: boolean
  /** Seconds. */
  duration?: number
  /** Frames a second of a video, on average. */
  frameRate?: number
  /** Whether the index of a video comes before its pictures. */
  isIndexFirst?: boolean
  /** The codec of a video's picture: `avc`, `hevc` and so on, else the code in the file. */
  codec?: string
}

/** The result of reading the file of a media item. */
export type MediaFile =
  /** `isPartial`: some properties could not be determined. */
  | { state: 'readable'; facts: MediaFacts; isPartial?: boolean }
  | { state: 'missing' }
  /** No platform can show it. `problem`: the reason and the next step, after the name of the file. */
  | { state: 'unusable'; problem: string }
  /** It could not be read in time. */
  | { state: 'unread' }

/** The files of a post by storage key. Nothing is known of a missing one. */
export type MediaFiles = ReadonlyMap<string, MediaFile>

export const NO_FILES: MediaFiles = new Map()

/** A media item with what is known of its file. */
export type KnownMediaItem = MediaItem & Partial<MediaFacts>

export interface KnownContent {
  text: string
  /** The text whose length counts, if it is another one (`toMeasuredText`). */
  measuredText?: string
  mediaItems: readonly KnownMediaItem[]
}

/** Returns whether a post with this status may still be sent, also after a retry by its user. */
export function needsMedia(status: PostStatus): boolean {
  return status !== 'COMPLETED' && status !== 'CANCELLED'
}

/** The end of a sentence about a file that object storage does not have. */
export const MISSING_FILE = 'was never uploaded, or is gone. Upload it again.'

/** Returns what is wrong with the size of a file, with the next step, as the end of a sentence; null when nothing is. */
export function findSizeProblem(sizeBytes: number, maxBytes: number): string | null {
  if (sizeBytes === 0) return 'is empty. Upload it again.'
  return sizeBytes > maxBytes ? `is too large: ${sizeBytes} of at most ${maxBytes} bytes. Upload a smaller one.` : null
}

const START = 'The file “'
const END = '” '

/** Returns the beginning of a sentence about a file. */
export function nameFile({ originalFilename, storageKey }: MediaItem): string {
  return `${START}${originalFilename ?? storageKey.split('/').at(-1)}${END.trim()}`
}

/** Returns the reason in a sentence that begins with `nameFile`, as a clause without the name; null for any other sentence. */
export function withoutFileName(sentence: string): string | null {
  // The name may contain anything, the rest no quotation mark.
  const end = sentence.lastIndexOf(END)
  if (!sentence.startsWith(START) || end === -1) return null
  const [reason] = sentence.slice(end + END.length).split('. ')
  return `A file of the post ${trimFullStop(reason!)}`
}

/** Returns why the file of a media item cannot be published, with the next step; null when nothing shows that. */
export function findFileProblem(item: MediaItem, file: MediaFile): string | null {
  switch (file.state) {
    case 'missing':
      return `${nameFile(item)} ${MISSING_FILE}`
    case 'unusable':
      return `${nameFile(item)} ${file.problem}`
    case 'readable': {
      const { mimeType } = file.facts
      if (toMediaKind(mimeType) === toMediaKind(item.mimeType)) return null
      return `${nameFile(item)} is ${mimeType}, not ${item.mimeType} as declared. Declare its type, or upload another file.`
    }
    case 'unread':
      return null
  }
}

/** Adds what is known of the files to the media items. It replaces what the client stated. */
export function withFacts({ text, mediaItems }: Content, files: MediaFiles): KnownContent {
  return {
    text,
    mediaItems: mediaItems.map((item) => {
      const file = files.get(item.storageKey)
      return file?.state === 'readable' ? { ...item, ...file.facts } : item
    }),
  }
}

/** Replaces declared types by those of the files, so that a WebP named `.jpg` is published as what it is. */
export function correctTypes<T extends Contents>(post: T, files: MediaFiles): T {
  if (files.size === 0) return post
  const correct = <C extends ContentOverride>(content: C): C => mapOwnMedia(content, (item) => correctType(item, files))
  const correctEach = <K extends string, C extends ContentOverride>(overrides: Partial<Record<K, C>>) =>
    Object.fromEntries(Object.entries<C>(overrides as Record<K, C>).map(([name, one]) => [name, correct(one)]))
  const { accountSpecificContent } = post
  return {
    ...post,
    content: correct(post.content),
    platformSpecificContent: correctEach(post.platformSpecificContent),
    ...(accountSpecificContent && { accountSpecificContent: correctEach(accountSpecificContent) }),
  }
}

function correctType(item: MediaItem, files: MediaFiles): MediaItem {
  const file = files.get(item.storageKey)
  if (file?.state !== 'readable' || findFileProblem(item, file) !== null) return item
  return { ...item, mimeType: file.facts.mimeType }
}
