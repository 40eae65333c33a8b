import { resolveContent, type Contents } from './content.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import {
  findFileProblem,
  nameFile,
  NO_FILES,
  withFacts,
  type KnownContent,
  type KnownMediaItem,
  type MediaFiles,
} from './media-files.ts'
import type { Content, MediaItem, Post, Segment } from './post.ts'
import {
  createTextMeter,
  measureText,
  toKindRules,
  toMediaKind,
  findPixelProblem,
  type MediaKind,
  type PostingRules,
  type TextPart,
  type TextLimit,
  type TextMeter,
  type TextUnit,
} from './posting-rules.ts'
import { findOptionProblems } from './option-problems.ts'
import { toMeasuredText } from './options.ts'
import { findUnsupported, isLeftOut, toParts, type Part, type UnsupportedField } from './parts.ts'
import type { Problem } from '../shared/service-error.ts'
import type { ChosenAccount } from './targets.ts'

/** Measurements of a post for one platform. `length` uses the platform's unit and stops at ten times `limit`. */
export interface PlatformReport extends PartReport {
  /** The further posts of a thread, and the first comment; absent without any. */
  parts?: PartReport[]
}

interface PartReport {
  length: number
  limit: number
  media: number
}

export interface Preflight {
  errors: Problem[]
  warnings: Problem[]
  /** The default accounts, by platform. */
  platforms: Partial<Record<Platform, PlatformReport>>
  /** The accounts that the user chose, by id. */
  accounts: Record<string, PlatformReport>
}

export type PreflightInput = Contents & {
  /** A missing file may still be uploaded before the time of a scheduled post. */
  scheduledAt?: Date | null
}

/** An account that a post is for, with the rules of its server. */
export interface PreflightTarget extends ChosenAccount {
  /** The path in the request that selects it. */
  path: string
  isConnected: boolean
  rules: PostingRules
}

/** Warns about a past time, which means now and is stored as null. */
export const SCHEDULED_IN_PAST: Problem = {
  path: 'scheduledAt',
  code: 'SCHEDULED_IN_PAST',
  message:
    'scheduledAt is in the past and was removed: a draft stays unscheduled, any other post is published immediately',
}

/** How the past time of a post that is no draft is treated: the post is published now, or refused. */
export const PAST_TIMES = ['publish', 'refuse'] as const
export type PastTime = (typeof PAST_TIMES)[number]

/**
 * Returns why a post is not scheduled although the client requested it; null when it is, or when the client did not.
 * @param wanted the status in the request
 */
export function findSchedulingProblem(
  wanted: Post['status'] | undefined,
  { status }: Pick<Post, 'status'>,
  warnings: readonly Problem[],
  past: PastTime,
): Problem | null {
  const isPast = warnings.some(({ code }) => code === SCHEDULED_IN_PAST.code)
  if (isPast && past === 'refuse' && status !== 'DRAFT' && wanted !== 'SCHEDULED') {
    const message = 'scheduledAt is in the past. Choose a later time, or leave it out to publish the post now.'
    return { path: 'scheduledAt', code: SCHEDULED_IN_PAST.code, message }
  }
  if (wanted !== 'SCHEDULED' || status === 'SCHEDULED') return null
  return {
    path: 'scheduledAt',
    code: isPast ? SCHEDULED_IN_PAST.code : 'SCHEDULED_AT_REQUIRED',
    message: isPast
      ? 'scheduledAt must be in the future to schedule a post; leave status out to publish it now'
      : 'scheduledAt is required to schedule a post; leave status out to publish it now',
  }
}

/** Checks the content for each account against the rules of its server, and returns all problems together. */
export function preflight(
  post: PreflightInput,
  targets: readonly PreflightTarget[],
  files: MediaFiles = NO_FILES,
): Preflight {
  const result: Preflight = { errors: [], warnings: [], platforms: {}, accounts: {} }
  const items = new Map<string, MediaItem>()
  const meter = createTextMeter()
  for (const one of targets) {
    const { platform, target, path, isConnected } = one
    const stated = resolveContent(post, one)
    const rules = toKindRules(platform, one.rules, stated.options)
    const chosen = { ...one, rules }
    const unsupported = findUnsupportedProblems(post, chosen, stated)
    result.errors.push(...unsupported.errors)
    result.warnings.push(...unsupported.warnings)
    if (isLeftOut(platform, stated)) continue
    // What refuses the post is no part of it, so that no other problem is about it.
    const ignored = unsupported.errors.length > 0 ? findUnsupported(stated, rules) : []
    const parts = locateParts(post, chosen, omit(stated, ignored))
    for (const [path, item] of locateMedia(post, chosen, stated)) items.set(path, item)
    const { mediaItems } = toKnownContent(platform, parts[0]!.content, stated, files)
    const found = findOptionProblems(platform, { ...stated, ...parts[0]!.content, mediaItems }, rules)
    const options = toPath(post, chosen, 'options')
    result.errors.push(...found.map((one) => ({ ...one, path: `${options}.${one.path}`, ...toAccountFields(chosen) })))
    for (const { content, ...part } of parts) {
      const known = { ...part, content: toKnownContent(platform, content, stated, files) }
      result.errors.push(...findContentProblems(chosen, known, meter))
      result.warnings.push(...findWarnings(chosen, known, meter))
    }
    if (rules.kind === 'story' && stated.text.trim() !== '') {
      const message = `A story on ${platformLabel(platform)} has no text: it is left out there`
      result.warnings.push({ path: toPath(post, one, 'text'), code: 'TEXT_LEFT_OUT', message, ...toAccountFields(one) })
    }
    if (!isConnected) {
      const what = target === undefined ? platformLabel(platform) : `This ${platformLabel(platform)} account`
      const message = `${what} is not connected. Connect it before the post is due.`
      result.warnings.push({ path, code: 'PLATFORM_NOT_CONNECTED', message, ...toAccountFields(chosen) })
    }
    const [first, ...others] = parts.map((part) => toReport(chosen, part, stated, meter))
    const report = { ...first!, ...(others.length > 0 && { parts: others }) }
    if (target === undefined) result.platforms[platform] = report
    else result.accounts[target] = report
  }
  for (const [path, item] of items) {
    const { kind, problem } = checkFile(item, files, post.scheduledAt ?? null)
    if (problem) result[kind].push({ path, ...problem })
  }
  result.warnings.push(...findUnusedOverrides(post, targets))
  return result
}

/** Returns the content of a part as the rules of its platform measure it, with what is known of its files. */
export function toKnownContent(
  platform: Platform,
  { text, mediaItems }: Segment,
  { options }: Pick<Content, 'options'>,
  files: MediaFiles,
): KnownContent {
  return { ...withFacts({ text, mediaItems }, files), measuredText: toMeasuredText(platform, text, options) }
}

/** Returns the media of a content, each with its path in the request. */
function locateMedia(post: PreflightInput, chosen: PreflightTarget, stated: Content): [path: string, MediaItem][] {
  const { mediaItems, segments = [], link } = stated
  const list = (items: readonly MediaItem[], path: string) =>
    items.map((item, index): [string, MediaItem] => [`${path}.${index}`, item])
  const ofSegments = segments.flatMap((segment, index) =>
    list(segment.mediaItems, `${toPath(post, chosen, 'segments')}.${index}.mediaItems`),
  )
  const image = typeof link === 'object' ? link.image : undefined
  return [
    ...list(mediaItems, toPath(post, chosen, 'mediaItems')),
    ...ofSegments,
    ...(image ? [[`${toPath(post, chosen, 'link')}.image`, image] satisfies [string, MediaItem]] : []),
  ]
}

/** The paths in the request of what a part consists of. */
interface PartPaths {
  path: Record<'text' | 'mediaItems', string>
  /** Of each media item. */
  items: string[]
}

interface LocatedPart extends PartPaths, Pick<Part, 'kind'> {
  content: KnownContent
}

/** Returns the parts of a post for an account. Those that are joined to one have the path of the first. */
function locateParts(post: PreflightInput, chosen: PreflightTarget, stated: Content): (Part & PartPaths)[] {
  const locate = (text: string, mediaItems: string, media: readonly MediaItem[]): PartPaths => ({
    path: { text, mediaItems },
    items: media.map((_, index) => `${mediaItems}.${index}`),
  })
  const segments = (stated.segments ?? []).map((segment, index) => {
    const path = `${toPath(post, chosen, 'segments')}.${index}`
    return locate(`${path}.text`, `${path}.mediaItems`, segment.mediaItems)
  })
  const first = locate(toPath(post, chosen, 'text'), toPath(post, chosen, 'mediaItems'), stated.mediaItems)
  const comment = toPath(post, chosen, 'firstComment')
  const parts = toParts(chosen.platform, stated)
  const isJoined = parts.filter(({ kind }) => kind === 'post').length === 1
  const posts = isJoined
    ? [{ ...first, items: [first, ...segments].flatMap(({ items }) => items) }]
    : [first, ...segments]
  return parts.map((part, index) => ({ ...part, ...(posts[index] ?? locate(comment, comment, [])) }))
}

function omit(content: Content, fields: readonly UnsupportedField[]): Content {
  return {
    ...content,
    ...(fields.includes('segments') && { segments: [] }),
    ...(fields.includes('firstComment') && { firstComment: '' }),
  }
}

function toReport(
  { platform, rules }: PreflightTarget,
  { kind, content }: Part,
  { options }: Content,
  meter: TextMeter,
): PartReport {
  const [limit] = toPartRules(kind, rules).text
  const text = toMeasuredText(platform, content.text, options)
  return { length: measureText(text, limit, meter).length, limit: limit.max, media: content.mediaItems.length }
}

/** Returns the rules of one part. A comment needs no media, and has a limit of its own where it is no post. */
export function toPartRules(kind: Part['kind'], rules: PostingRules): PostingRules {
  if (kind === 'post') return rules
  const { commentLength: max } = rules.thread
  const text: PostingRules['text'] = max === undefined ? rules.text : [{ unit: 'codePoints', max }]
  return { ...rules, text, media: { ...rules.media, required: false } }
}

const UNSUPPORTED_WORDS: Record<UnsupportedField, string> = {
  segments: 'no threads',
  firstComment: 'no first comments',
}

/** Returns what becomes of a thread or a comment on a platform that has none. */
function findUnsupportedProblems(
  post: PreflightInput,
  chosen: PreflightTarget,
  stated: Content,
): Pick<Preflight, 'errors' | 'warnings'> {
  const { platform, rules } = chosen
  const label = platformLabel(platform)
  const { onUnsupported = 'refuse', segments = [] } = stated
  const about = (field: UnsupportedField, code: string, message: string): Problem => ({
    ...{ path: toPath(post, chosen, field), code, message },
    ...toAccountFields(chosen),
  })
  const found = findUnsupported(stated, rules)
  const joined = segments.length > 0 && rules.thread.segments === 'joined'
  const warnings = joined ? [about('segments', 'JOINED', `On ${label} the thread becomes one long post`)] : []
  if (onUnsupported === 'refuse') {
    const step = 'Set `onUnsupported` to `join` or `skipPlatform`, or leave it out on this platform.'
    const errors = found.map((field) =>
      about(field, 'NOT_SUPPORTED', `${label} has ${UNSUPPORTED_WORDS[field]}. ${step}`),
    )
    return { errors, warnings }
  }
  const [code, end] =
    onUnsupported === 'join'
      ? ['JOINED', 'it becomes part of the text']
      : ['LEFT_OUT', 'the post is not published there']
  const others = found.map((field) => about(field, code, `${label} has ${UNSUPPORTED_WORDS[field]}: ${end}`))
  return { errors: [], warnings: [...warnings, ...others] }
}

/** Returns what is wrong with a file, whatever the platform, and whether it refuses the post. */
function checkFile(
  item: MediaItem,
  files: MediaFiles,
  scheduledAt: Date | null,
): { kind: 'errors' | 'warnings'; problem: Finding | null } {
  const file = files.get(item.storageKey)
  const message = file ? findFileProblem(item, file) : null
  if (file && message !== null) {
    const isMissing = file.state === 'missing'
    const problem = { code: isMissing ? 'MEDIA_MISSING' : 'MEDIA_UNUSABLE', message }
    return { kind: isMissing && scheduledAt ? 'warnings' : 'errors', problem }
  }
  const isUnchecked = file?.state === 'unread' || (file?.state === 'readable' && file.isPartial === true)
  const unchecked = {
    code: 'MEDIA_UNCHECKED',
    message: `${nameFile(item)} could not be checked now. The platform may refuse it.`,
  }
  return { kind: 'warnings', problem: isUnchecked ? unchecked : null }
}

/** Warns about texts and media for platforms and accounts that the post does not select. */
function findUnusedOverrides(post: PreflightInput, targets: readonly PreflightTarget[]): Problem[] {
  const platforms = new Set<string>(targets.map(({ platform }) => platform))
  const accounts = new Set(targets.map(({ accountId }) => accountId))
  const unused = [
    ...Object.keys(post.platformSpecificContent)
      .filter((platform) => !platforms.has(platform))
      .map((platform) => ({ path: `platformSpecificContent.${platform}`, what: 'platform' })),
    ...Object.keys(post.accountSpecificContent ?? {})
      .filter((accountId) => !accounts.has(accountId))
      .map((accountId) => ({ path: `accountSpecificContent.${accountId}`, what: 'account' })),
  ]
  return unused.map(({ path, what }) => ({
    path,
    code: 'NOT_SELECTED',
    message: `${path} is not used, because the post does not select this ${what}. Select it, or remove the content.`,
  }))
}

/** The fields of a problem that name the platform, and the account if the user chose it. */
function toAccountFields({ platform, target }: ChosenAccount): Pick<Problem, 'platform' | 'accountId'> {
  return { platform, ...(target !== undefined && { accountId: target }) }
}

/** Checks content against one platform's rules. Adapters call it again before publishing, because rules may be newer than a post. */
export function checkContent(platform: Platform, content: KnownContent, rules: PostingRules): Finding[] {
  return [...checkText(platform, content, rules), ...checkMedia(platform, content, rules)]
}

function findContentProblems(
  chosen: PreflightTarget,
  { kind, path, content }: LocatedPart,
  meter: TextMeter,
): Problem[] {
  const { platform } = chosen
  const rules = toPartRules(kind, chosen.rules)
  const toProblem = (part: keyof LocatedPart['path'], { code, message }: Finding): Problem => ({
    ...{ path: path[part], code, message },
    ...toAccountFields(chosen),
  })
  return [
    ...checkText(platform, content, rules, meter).map((finding) => toProblem('text', finding)),
    ...checkMedia(platform, content, rules).map((finding) => toProblem('mediaItems', finding)),
  ]
}

interface Finding {
  code: string
  message: string
}

const UNIT_WORDS: Record<TextUnit, (limit: TextLimit) => string> = {
  graphemes: () => 'characters',
  utf8Bytes: () => 'bytes',
  utf16Units: () => 'characters',
  codePoints: () => 'characters',
  codePointsEmojiAsBytes: () => 'characters, emoji counted by their bytes',
  graphemesLinksAs23: ({ linkLength = 23 }) => `characters, links counted as ${linkLength}`,
}

export function checkText(
  platform: Platform,
  { text, measuredText = text, mediaItems }: KnownContent,
  rules: PostingRules,
  meter: TextMeter = createTextMeter(),
): Finding[] {
  const label = platformLabel(platform)
  if (text.trim() === '' && mediaItems.length === 0) {
    return [{ code: 'TEXT_REQUIRED', message: `A post on ${label} needs text or media` }]
  }
  const tooLong = rules.text.flatMap((limit) => {
    const { length, countedTo } = measureText(measuredText, limit, meter)
    if (length <= limit.max) return []
    const counted = length < countedTo ? `${length}` : `${length} or more`
    return [
      {
        code: 'TEXT_TOO_LONG',
        message: `Text is too long for ${label}: ${counted} of at most ${limit.max} ${UNIT_WORDS[limit.unit](limit)}`,
      },
    ]
  })
  const tooMany = Object.entries(rules.parts ?? {}).flatMap(([part, max]) => {
    const count = meter.countParts(text, part as TextPart)
    if (count <= max) return []
    return [
      {
        code: `TOO_MANY_${part.toUpperCase()}`,
        message: `${label} takes at most ${max} ${part} in a post: there are ${count}`,
      },
    ]
  })
  return [...tooLong, ...tooMany]
}

function checkMedia(
  platform: Platform,
  { mediaItems }: KnownContent,
  { media, kind: chosen }: PostingRules,
): Finding[] {
  const label = platformLabel(platform)
  const kind = chosen ?? 'post'
  const findings: Finding[] = []
  if (media.required && mediaItems.length === 0) {
    const what = media.image.max === 0 ? 'a video' : 'at least one image or video'
    findings.push({ code: 'MEDIA_REQUIRED', message: `A ${kind} on ${label} needs ${what}` })
  }
  const counts = { image: 0, video: 0 }
  for (const { mimeType } of mediaItems) counts[toMediaKind(mimeType)] += 1
  const tooMany = findExceededMediaLimit(counts, media)
  if (tooMany) findings.push({ code: 'TOO_MANY_MEDIA', message: `${label} takes ${tooMany} in a ${kind}` })
  if (!media.mix && counts.image > 0 && counts.video > 0) {
    findings.push({ code: 'MEDIA_MIX', message: `${label} takes images or a video in a post, not both` })
  }
  const refused = mediaItems
    .map(({ mimeType }) => mimeType)
    .filter((type) => !media[toMediaKind(type)].types.includes(type))
  for (const type of new Set(refused)) {
    const accepted = media[toMediaKind(type)].types.join(' or ')
    const step = accepted === '' ? '' : `. Convert it to ${accepted}`
    findings.push({ code: 'MEDIA_TYPE', message: `Media of type ${type} cannot be published on ${label}${step}` })
  }
  const tooLarge = mediaItems.flatMap((item) => findPixelProblem(countPixels(item)) ?? [])
  for (const message of new Set(tooLarge)) findings.push({ code: 'IMAGE_TOO_LARGE', message })
  // Images are converted; a video is passed on as it is.
  const videos = mediaItems.filter(({ mimeType }) => toMediaKind(mimeType) === 'video')
  return [...findings, ...checkVideos(label, videos, media.video)]
}

function checkVideos(
  label: string,
  videos: readonly KnownMediaItem[],
  {
    maxBytes,
    seconds,
    pixels: maxPixels = Infinity,
    width: maxWidth = Infinity,
    frameRate: rates,
    codecs,
  }: PostingRules['media']['video'],
): Finding[] {
  const findings: Finding[] = []
  if (videos.some(({ sizeBytes = 0 }) => sizeBytes > maxBytes)) {
    const megabytes = Math.floor(maxBytes / 1_000_000)
    findings.push({ code: 'MEDIA_TOO_LARGE', message: `${label} takes videos of at most ${megabytes} MB` })
  }
  for (const { duration, codec, frameRate, width = 0, height = 0, pixels = width * height } of videos) {
    if (seconds && duration !== undefined && duration > seconds.max) {
      const message = `${label} takes videos of at most ${describeSeconds(seconds.max)}, and this one has ${describeSeconds(Math.ceil(duration))}. Shorten it.`
      findings.push({ code: 'VIDEO_TOO_LONG', message })
    }
    if (seconds?.min !== undefined && duration !== undefined && duration < seconds.min) {
      const message = `${label} takes videos of at least ${describeSeconds(seconds.min)}. Use a longer one.`
      findings.push({ code: 'VIDEO_TOO_SHORT', message })
    }
    if (pixels > maxPixels) {
      const [most, size] = [describeSize(maxPixels, height > width), `${width} × ${height}`]
      const message = `${label} takes videos of at most ${maxPixels} pixels a frame, such as ${most}, and this one has ${size}. Export it in a smaller size.`
      findings.push({ code: 'VIDEO_TOO_LARGE', message })
    }
    if (width > maxWidth) {
      const message = `${label} takes videos of at most ${maxWidth} pixels in width, and this one has ${width}. Export it in a smaller size.`
      findings.push({ code: 'VIDEO_TOO_LARGE', message })
    }
    // Servers round down as well: 120.02 frames a second are 120.
    const frames = frameRate === undefined ? undefined : Math.floor(frameRate)
    if (rates && frames !== undefined && (frames > rates.max || frames < (rates.min ?? 0))) {
      const range = rates.min === undefined ? `at most ${rates.max}` : `${rates.min} to ${rates.max}`
      const message = `${label} takes videos of ${range} frames a second, and this one has ${frames}. Export it with another frame rate.`
      findings.push({ code: 'VIDEO_FRAME_RATE', message })
    }
    if (codecs && codec !== undefined && !codecs.includes(codec)) {
      const message = `${label} takes videos in H.264 or HEVC, and this one has ${codec}. Convert it.`
      findings.push({ code: 'VIDEO_CODEC', message })
    }
  }
  return findings
}

function describeSeconds(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  return [...(minutes > 0 ? [`${minutes} min`] : []), ...(rest > 0 ? [`${rest} s`] : [])].join(' ')
}

/** Returns the largest usual shape with this number of pixels, in words. */
function describeSize(pixels: number, isUpright: boolean): string {
  const long = Math.floor(Math.sqrt((pixels * 16) / 9))
  const sides = [long, Math.floor((long * 9) / 16)]
  return (isUpright ? sides.toReversed() : sides).join(' × ')
}

/** Pixels of the file, else as stated by the client. */
function countPixels({ mimeType, width = 0, height = 0, pixels = width * height }: KnownMediaItem): number {
  return toMediaKind(mimeType) === 'image' ? pixels : 0
}

function findExceededMediaLimit(counts: Record<MediaKind, number>, media: PostingRules['media']): string | null {
  const describe = (max: number, what: string) =>
    max === 0 ? `no ${what}s` : `at most ${max === 1 ? `one ${what}` : `${max} ${what}s`}`
  if (counts.image > media.image.max) return describe(media.image.max, 'image')
  if (counts.video > media.video.max) return describe(media.video.max, 'video')
  return counts.image + counts.video > media.max ? describe(media.max, 'media item') : null
}

/** Returns what may be refused, or published differently from what the user wrote. */
function findWarnings(chosen: PreflightTarget, part: LocatedPart, meter: TextMeter): Problem[] {
  return [
    ...findUncertainLength(chosen, part, meter),
    ...findCutAltTexts(chosen, part, meter),
    ...findLostAnimations(chosen, part),
    ...findLateIndexes(chosen, part),
  ]
}

/** Warns about a text that its platform may refuse although it keeps the documented limit. */
function findUncertainLength(
  chosen: PreflightTarget,
  { path: paths, content: { text } }: LocatedPart,
  meter: TextMeter,
): Problem[] {
  const { platform, rules } = chosen
  const isTooLong = ({ unit, max, linkLength }: TextLimit) => meter.countText(text, unit, max + 1, linkLength) > max
  if (!rules.uncertainAbove || !isTooLong(rules.uncertainAbove) || rules.text.some(isTooLong)) return []
  const { unit, max } = rules.uncertainAbove
  const message = `Text has more than ${max} ${UNIT_WORDS[unit](rules.uncertainAbove)}. ${platformLabel(platform)} may count them instead of characters and refuse it. Shorten it to be safe.`
  return [{ path: paths.text, code: 'TEXT_MAY_BE_TOO_LONG', message, ...toAccountFields(chosen) }]
}

function findCutAltTexts(chosen: PreflightTarget, { items, content }: LocatedPart, meter: TextMeter): Problem[] {
  return content.mediaItems.flatMap(({ altText = '', mimeType }, index) => {
    const max = chosen.rules.altText[toMediaKind(mimeType)]
    if (max === null || meter.countText(altText, 'codePoints') <= max) return []
    const message = `The description is cut to ${max} characters on ${platformLabel(chosen.platform)}`
    const path = `${items[index]}.altText`
    return [{ path, code: 'ALT_TEXT_CUT', message, ...toAccountFields(chosen) }]
  })
}

/** No platform documents that it shows animated WebP or PNG images. */
function findLostAnimations(chosen: PreflightTarget, { items, content }: LocatedPart): Problem[] {
  return content.mediaItems.flatMap((item, index) => {
    if (!item.isAnimated) return []
    const message = `${platformLabel(chosen.platform)} may show only the first frame of an animated image. Upload a video instead.`
    return [{ path: items[index]!, code: 'ANIMATION_LOST', message, ...toAccountFields(chosen) }]
  })
}

/** Cameras write the index last. Whether a platform takes such a video after all is not documented, so it is not refused here. */
function findLateIndexes(chosen: PreflightTarget, { items, content }: LocatedPart): Problem[] {
  if (!chosen.rules.media.video.indexFirst) return []
  return content.mediaItems.flatMap(({ isIndexFirst = true }, index) => {
    if (isIndexFirst) return []
    const message = `The video has its index (moov) at the end. ${platformLabel(chosen.platform)} asks for it at the beginning and may refuse the video. Export it for the web (“fast start”) to be safe.`
    return [{ path: items[index]!, code: 'VIDEO_INDEX_LAST', message, ...toAccountFields(chosen) }]
  })
}

/** Returns the path in the request of the content part that the account receives. */
function toPath(post: PreflightInput, { platform, accountId }: ChosenAccount, part: keyof Content): string {
  if (accountId !== undefined && post.accountSpecificContent?.[accountId]?.[part] !== undefined) {
    return `accountSpecificContent.${accountId}.${part}`
  }
  const isOverridden = post.platformSpecificContent[platform]?.[part] !== undefined
  return isOverridden ? `platformSpecificContent.${platform}.${part}` : `content.${part}`
}
