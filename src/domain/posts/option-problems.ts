import { platformLabel, type Platform } from '../shared/platforms.ts'
import { parseBlueskyPost, type BlueskyOptions, type InstagramOptions, type Poll, type UserTag } from './options.ts'
import type { Content, MediaItem } from './post.ts'
import type { KnownContent } from './media-files.ts'
import { countText, toMediaKind, type PostingRules } from './posting-rules.ts'

/** A problem of an option; `path` is below the options. */
export interface OptionProblem {
  path: string
  code: string
  message: string
}

/** Checks the options of a content on its platform, beyond their shape. */
export function findOptionProblems(
  platform: Platform,
  { options = {}, ...content }: Pick<Content, 'options'> & KnownContent,
  rules: PostingRules,
): OptionProblem[] {
  if (platform === 'mastodon' || platform === 'threads') {
    return findPollProblems(platform, options[platform]?.poll, content, rules)
  }
  if (platform === 'bluesky') return findBlueskyProblems(options.bluesky)
  if (platform === 'instagram') return findInstagramProblems(options.instagram, content.mediaItems)
  return []
}

function findPollProblems(
  platform: Platform,
  poll: (Pick<Poll, 'options'> & Partial<Pick<Poll, 'expiresIn'>>) | undefined,
  { text, mediaItems }: KnownContent,
  rules: PostingRules,
): OptionProblem[] {
  if (!poll || !rules.poll) return []
  const { options, optionLength, unit, expiresIn } = rules.poll
  const problem = (field: string, code: string, message: string) => ({
    path: `${platform}.poll${field}`,
    code,
    message,
  })
  const problems: OptionProblem[] = []
  if (mediaItems.length > 0) {
    const message = `${platformLabel(platform)} takes a poll or media in a post, not both. Remove one.`
    problems.push(problem('', 'POLL_WITH_MEDIA', message))
  }
  if (text.trim() === '') problems.push(problem('', 'TEXT_REQUIRED', 'A post with a poll needs a text'))
  const { length } = poll.options
  if (length < options.min || length > options.max) {
    const message = `A poll has ${options.min} to ${options.max} options, and this one has ${length}`
    problems.push(problem('.options', 'POLL_OPTIONS', message))
  }
  const texts = poll.options.map((option) => option.trim())
  if (new Set(texts).size < length || texts.includes('')) {
    problems.push(problem('.options', 'POLL_OPTIONS', 'The options of a poll must be different and not empty'))
  }
  if (texts.some((one) => countText(one, unit, optionLength + 1) > optionLength)) {
    const message = `An option of a poll has at most ${optionLength} characters. Shorten it.`
    problems.push(problem('.options', 'POLL_OPTION_TOO_LONG', message))
  }
  const { expiresIn: seconds } = poll
  if (expiresIn && seconds !== undefined && (seconds < expiresIn.min || seconds > expiresIn.max)) {
    const message = `A poll runs for ${expiresIn.min} to ${expiresIn.max} seconds`
    problems.push(problem('.expiresIn', 'POLL_TIME', message))
  }
  return problems
}

function findBlueskyProblems({ quoteUrl, replyGate = [] }: BlueskyOptions = {}): OptionProblem[] {
  const problems: OptionProblem[] = []
  if (quoteUrl !== undefined && !parseBlueskyPost(quoteUrl)) {
    const message =
      'quoteUrl must be the address of a Bluesky post, such as https://bsky.app/profile/name.bsky.social/post/3k2a'
    problems.push({ path: 'bluesky.quoteUrl', code: 'URL_INVALID', message })
  }
  if (replyGate.length > 1 && replyGate.includes('none')) {
    const message = 'replyGate is `none` or a list of the others, not both. Remove one.'
    problems.push({ path: 'bluesky.replyGate', code: 'REPLY_GATE', message })
  }
  return problems
}

function findInstagramProblems(options: InstagramOptions = {}, mediaItems: readonly MediaItem[]): OptionProblem[] {
  const { coverAt, shareToFeed, collaborators = [], userTags = [] } = options
  const single = mediaItems.length === 1 && isVideo(mediaItems[0]!) ? mediaItems[0] : undefined
  const kind = options.kind ?? (single ? 'reel' : 'feed')
  const problems: OptionProblem[] = []
  const report = (field: string, code: string, message: string) =>
    problems.push({ path: `instagram.${field}`, code, message })
  if (options.kind === 'feed' && single) {
    report('kind', 'OPTION_KIND', 'Instagram publishes a single video as a reel or a story. Choose one of them.')
  }
  const length = single?.duration
  if (kind !== 'reel') {
    const message = 'This option is for reels only. Remove it.'
    if (coverAt !== undefined) report('coverAt', 'OPTION_KIND', message)
    if (shareToFeed !== undefined) report('shareToFeed', 'OPTION_KIND', message)
  } else if (coverAt !== undefined && length !== undefined && coverAt > length) {
    report('coverAt', 'COVER_TIME', `The cover must be in the video, which has ${Math.floor(length)} seconds`)
  }
  if (kind === 'story' && collaborators.length > 0) {
    report('collaborators', 'OPTION_KIND', 'Stories have no collaborators. Remove them.')
  }
  for (const [index, tag] of userTags.entries()) {
    const message = findTagProblem(tag, kind, mediaItems)
    if (message !== null) report(`userTags.${index}`, 'USER_TAG', message)
  }
  return problems
}

function findTagProblem(
  { mediaItem = 0, x, y }: UserTag,
  kind: string,
  mediaItems: readonly MediaItem[],
): string | null {
  const item = mediaItems[mediaItem]
  if (!item) return `The post has no media item ${mediaItem}`
  const stated = [x, y].filter((one) => one !== undefined).length
  if (kind === 'story') return stated === 1 ? 'A tag in a story has both x and y, or neither' : null
  if (!isVideo(item)) return stated === 2 ? null : 'A tag in an image needs x and y'
  if (kind !== 'reel') return 'Instagram takes no tags in a video of a carousel'
  return stated === 0 ? null : 'A tag in a reel has no position. Remove x and y.'
}

const isVideo = ({ mimeType }: MediaItem): boolean => toMediaKind(mimeType) === 'video'
