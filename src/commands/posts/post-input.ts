import type { NewPost, PostChange } from '../../domain/posts/post-moves.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Content, ContentOverride, IfLate, LinkCard, LinkChoice, MediaItem } from '../../domain/posts/post.ts'
import { SCHEDULED_IN_PAST } from '../../domain/posts/preflight.ts'
import { isCardUrl } from '../../domain/posts/link.ts'
import { describeTooLargeFile, MAX_UPLOAD_BYTES, toMediaKind } from '../../domain/posts/posting-rules.ts'
import { findSizeProblems } from '../../domain/posts/post-size.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { isOwnMediaKey } from '../../domain/media/storage-keys.ts'
import { NEXT_SLOT } from '../../domain/posts/slots.ts'
import { stripDirections } from '../../domain/shared/text.ts'
import { withoutEmptyParts } from '../../domain/posts/content.ts'
import { DAY } from '../../domain/shared/times.ts'
import { parseInstant, findTimezoneProblem } from '../../domain/shared/timezones.ts'
import type { CommandContext } from '../context.ts'

/** A media item as clients send it, by its key or by the address of a file that this service fetches (`storeSources`). */
export interface MediaItemInput extends Omit<MediaItem, 'storageUrl' | 'storageKey'> {
  storageKey?: string
  sourceUrl?: string
}

export interface SegmentInput {
  text?: string
  mediaItems?: MediaItemInput[]
}

type LinkInput = Exclude<LinkChoice, LinkCard> | (Omit<LinkCard, 'image'> & { image?: MediaItemInput })

export interface ContentInput extends SegmentInput, Pick<Content, 'firstComment' | 'onUnsupported' | 'options'> {
  segments?: SegmentInput[]
  link?: LinkInput
}

/** The fields that a client may set on a post; their shapes are already checked. */
export interface PostInput {
  content?: ContentInput
  selectedPlatforms?: Platform[]
  /** Ids of accounts besides the default ones of the platforms. */
  selectedAccounts?: string[]
  /** Ids or names of groups of accounts. */
  selectedGroups?: string[]
  platformSpecificContent?: Partial<Record<Platform, ContentInput>>
  /** By account id. */
  accountSpecificContent?: Record<string, ContentInput>
  /** With an offset, wall time in `timezone`, or `NEXT_SLOT`, which is no time yet. Null means now. */
  scheduledAt?: string | null
  /** How long an immediate post waits, in place of the user's setting. */
  holdSeconds?: number
  timezone?: string
  /** Null removes what was chosen before. */
  ifLate?: IfLate | null
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
}

/** The body of create and of PUT: everything a post needs. */
export type WholePostInput = PostInput & { content: ContentInput & { text: string } }

export interface InputContext {
  userId: string
  /** Returns the public address of a storage key. */
  publicUrl(key: string): string
  now: Date
}

/** Returns the context of an input that is read now. */
export const toInputContext = ({ storage, clock }: CommandContext, userId: string): InputContext => ({
  ...{ userId, publicUrl: storage.publicUrl, now: clock.now() },
})

const DEFAULT_TIMEZONE = 'UTC'

/** The furthest schedule that is accepted; it also catches mistyped years. */
const FURTHEST_SCHEDULE_MS = 100 * 365 * DAY

type Fields = Pick<
  NewPost,
  | 'content'
  | 'selectedPlatforms'
  | 'selectedAccounts'
  | 'platformSpecificContent'
  | 'accountSpecificContent'
  | 'holdSeconds'
  | 'ifLate'
  | 'timezone'
>

interface Read<T> {
  value: T
  problems: Problem[]
  warnings: Problem[]
}

/** Parses the fields of a post from a whole body, with defaults. */
export function readWholePost(
  input: WholePostInput,
  context: InputContext,
): Read<Fields & { scheduledAt?: Date | null }> {
  const { value, problems, warnings } = readChange(input, DEFAULT_TIMEZONE, context)
  const { selectedPlatforms = [] } = input
  problems.push(...findSelectionProblems({ ...input, selectedPlatforms }))
  const { selectedAccounts, ...given } = value
  const whole = {
    platformSpecificContent: {},
    timezone: DEFAULT_TIMEZONE,
    ...given,
    content: withoutEmptyParts({ text: input.content.text, mediaItems: [], ...given.content }),
    selectedPlatforms,
    ...(selectedAccounts?.length && { selectedAccounts }),
  }
  return { value: whole, problems, warnings }
}

/** The fields that a client wants to change: `content` in parts, the others whole. */
export type GivenFields = Omit<PostChange, 'content' | 'status'> & { content?: ContentOverride }

/**
 * Parses the fields that a client wants to change.
 * @param storedTimezone the time zone of times without an offset when the input has no time zone
 */
export function readChange(input: PostInput, storedTimezone: string, context: InputContext): Read<GivenFields> {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  const value: GivenFields = {}
  if (input.content) value.content = readContent(input.content, 'content', context, problems)
  if (input.platformSpecificContent) {
    value.platformSpecificContent = readOverrides(
      input.platformSpecificContent,
      'platformSpecificContent',
      context,
      problems,
    )
  }
  if (input.accountSpecificContent) {
    value.accountSpecificContent = readOverrides(
      input.accountSpecificContent,
      'accountSpecificContent',
      context,
      problems,
    )
  }
  if (input.selectedPlatforms) value.selectedPlatforms = input.selectedPlatforms
  if (input.selectedAccounts) value.selectedAccounts = input.selectedAccounts
  const timezone = readTimezone(input.timezone, problems)
  if (timezone !== undefined) value.timezone = timezone
  if (input.holdSeconds !== undefined) value.holdSeconds = input.holdSeconds
  if (input.ifLate !== undefined)
    value.ifLate = input.ifLate && { action: input.ifLate.action, afterMinutes: input.ifLate.afterMinutes }
  if (input.scheduledAt !== undefined && input.scheduledAt !== NEXT_SLOT) {
    const instant = readScheduledAt(input.scheduledAt, timezone ?? storedTimezone, context.now, problems)
    const isPast = instant !== null && instant <= context.now
    if (isPast) warnings.push(SCHEDULED_IN_PAST)
    value.scheduledAt = isPast ? null : instant
  }
  problems.push(...findSizeProblems(value))
  return { value, problems, warnings }
}

/** @throws ServiceError VALIDATION_FAILED with all problems, if there are any */
export function refuseProblems(problems: Problem[]): void {
  if (problems.length > 0) throw validationFailed(problems)
}

export function refuseProblem(problem: Problem | null): void {
  if (problem) refuseProblems([problem])
}

function readTimezone(timezone: string | undefined, problems: Problem[]): string | undefined {
  const problem = timezone === undefined ? null : findTimezoneProblem(timezone)
  if (!problem) return timezone
  problems.push(problem)
  return undefined
}

function readScheduledAt(value: string | null, timezone: string, now: Date, problems: Problem[]): Date | null {
  if (value === null) return null
  const instant = parseInstant(value, timezone)
  if (!instant) {
    problems.push({
      path: 'scheduledAt',
      code: 'DATE_TIME_INVALID',
      message: 'scheduledAt must be an ISO 8601 date-time, such as 2026-05-01T09:30:00+02:00.',
    })
    return null
  }
  if (instant.getTime() - now.getTime() > FURTHEST_SCHEDULE_MS) {
    problems.push({
      path: 'scheduledAt',
      code: 'SCHEDULED_TOO_FAR',
      message: 'scheduledAt must be within a hundred years. Choose an earlier time.',
    })
  }
  return instant
}

function readOverrides(
  input: Record<string, ContentInput>,
  field: 'platformSpecificContent' | 'accountSpecificContent',
  context: InputContext,
  problems: Problem[],
): Record<string, ContentOverride> {
  return Object.fromEntries(
    Object.entries(input).map(([name, override]) => [
      name,
      readContent(override, `${field}.${name}`, context, problems),
    ]),
  )
}

/** A post needs a platform, an account or a group. */
export function findSelectionProblems({
  selectedPlatforms,
  selectedAccounts = [],
  selectedGroups = [],
}: Record<'selectedPlatforms', readonly unknown[]> &
  Partial<Record<'selectedAccounts' | 'selectedGroups', readonly unknown[] | undefined>>): Problem[] {
  if (selectedPlatforms.length + selectedAccounts.length + selectedGroups.length > 0) return []
  const message = 'selectedPlatforms must have at least 1 entry. Add one.'
  return [{ path: 'selectedPlatforms', code: 'TOO_SHORT', message }]
}

function readContent(input: ContentInput, path: string, context: InputContext, problems: Problem[]): ContentOverride {
  const { text, mediaItems, segments, firstComment, onUnsupported, options, link } = input
  const readItem = (item: MediaItemInput, itemPath: string) => {
    problems.push(...findMediaItemProblems(item, itemPath, context.userId))
    return readMediaItem(item, context)
  }
  const readMedia = (items: MediaItemInput[], base: string) =>
    items.map((item, index) => readItem(item, `${base}.mediaItems.${index}`))
  const readLink = (given: LinkInput, base: string): LinkChoice => {
    problems.push(...findLinkProblems(given, base))
    if (typeof given === 'string') return given
    const { url, title, description, image } = given
    return {
      url,
      ...(title !== undefined && { title: stripDirections(title) }),
      ...(description !== undefined && { description: stripDirections(description) }),
      ...(image && { image: readItem(image, `${base}.image`) }),
    }
  }
  return {
    ...(text !== undefined && { text }),
    ...(mediaItems && { mediaItems: readMedia(mediaItems, path) }),
    ...(segments && {
      segments: segments.map((segment, index) => ({
        text: segment.text ?? '',
        mediaItems: readMedia(segment.mediaItems ?? [], `${path}.segments.${index}`),
      })),
    }),
    ...(firstComment !== undefined && { firstComment }),
    ...(onUnsupported !== undefined && { onUnsupported }),
    ...(options && { options }),
    ...(link !== undefined && { link: readLink(link, `${path}.link`) }),
  }
}

function findLinkProblems(link: LinkInput, path: string): Problem[] {
  if (typeof link === 'string') return []
  const problems: Problem[] = []
  if (!isCardUrl(link.url)) {
    const message = 'The link must be a web address, such as https://example.com/article.'
    problems.push({ path: `${path}.url`, code: 'URL_INVALID', message })
  }
  if (link.image && toMediaKind(link.image.mimeType) === 'video') {
    const message = 'The image of a link cannot be a video. Use an image.'
    problems.push({ path: `${path}.image.mimeType`, code: 'MEDIA_TYPE', message })
  }
  return problems
}

function findMediaItemProblems(item: MediaItemInput, path: string, userId: string): Problem[] {
  const problem = findAddressProblem(item, path, userId)
  const problems = problem ? [problem] : []
  const max = MAX_UPLOAD_BYTES[toMediaKind(item.mimeType)]
  if (item.sizeBytes !== undefined && item.sizeBytes > max) {
    problems.push({
      path: `${path}.sizeBytes`,
      code: 'MEDIA_TOO_LARGE',
      message: describeTooLargeFile(max),
    })
  }
  return problems
}

/** A media item has either a key or an address. */
function findAddressProblem({ storageKey, sourceUrl }: MediaItemInput, path: string, userId: string): Problem | null {
  if (sourceUrl === undefined) {
    if (storageKey === undefined) {
      const message = `${path}.storageKey is missing. Add it, or the address of the file as sourceUrl.`
      return { path: `${path}.storageKey`, code: 'REQUIRED', message }
    }
    if (isOwnMediaKey(userId, storageKey)) return null
    const message = 'The file does not belong to this account. Upload it again and use the storageKey of that upload.'
    return { path: `${path}.storageKey`, code: 'STORAGE_KEY_INVALID', message }
  }
  if (storageKey === undefined && isCardUrl(sourceUrl)) return null
  const message =
    storageKey === undefined
      ? 'sourceUrl must be a web address, such as https://example.com/picture.jpg.'
      : 'A media item has a storageKey or a sourceUrl, not both. Remove one.'
  return { path: `${path}.sourceUrl`, code: 'URL_INVALID', message }
}

/** Copies field by field, so that no other part of a request reaches the record. A file that is not fetched has its address as key. */
function readMediaItem(item: MediaItemInput, { publicUrl }: InputContext): MediaItem {
  const { sourceUrl = '', originalFilename, sizeBytes, width, height, duration, altText } = item
  const { storageKey = sourceUrl } = item
  return {
    storageKey,
    storageUrl: storageKey === sourceUrl ? sourceUrl : publicUrl(storageKey),
    mimeType: item.mimeType === 'image/jpg' ? 'image/jpeg' : item.mimeType,
    ...(originalFilename === undefined ? {} : { originalFilename: stripDirections(originalFilename) }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(duration === undefined ? {} : { duration }),
    ...(altText === undefined ? {} : { altText }),
  }
}
