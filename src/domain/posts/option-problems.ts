import { platformLabel, type Platform } from '../shared/platforms.ts'
import { parseBlueskyPost, type BlueskyOptions, type Poll } from './options.ts'
import type { Content, Segment } from './post.ts'
import { countText, type PostingRules } from './posting-rules.ts'

/** What is wrong with an option; `path` is below the options. */
export interface OptionProblem {
  path: string
  code: string
  message: string
}

/** Checks the options of a content on its platform, beyond their shape. */
export function findOptionProblems(
  platform: Platform,
  { options = {}, ...content }: Pick<Content, 'options'> & Segment,
  rules: PostingRules,
): OptionProblem[] {
  if (platform === 'mastodon' || platform === 'threads') {
    return findPollProblems(platform, options[platform]?.poll, content, rules)
  }
  if (platform === 'bluesky') return findBlueskyProblems(options.bluesky)
  return []
}

function findPollProblems(
  platform: Platform,
  poll: (Pick<Poll, 'options'> & Partial<Pick<Poll, 'expiresIn'>>) | undefined,
  { text, mediaItems }: Segment,
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
  if (replyGate.length > 1 && replyGate.includes('nobody')) {
    const message = 'replyGate is `nobody` or a list of the others, not both. Remove one.'
    problems.push({ path: 'bluesky.replyGate', code: 'REPLY_GATE', message })
  }
  return problems
}
