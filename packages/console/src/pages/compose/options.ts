import type { Options } from './draft.ts'

export type MastodonOptions = NonNullable<Options['mastodon']>
export type BlueskyOptions = NonNullable<Options['bluesky']>
export type ThreadsOptions = NonNullable<Options['threads']>
export type InstagramOptions = NonNullable<Options['instagram']>
export type UserTag = NonNullable<InstagramOptions['userTags']>[number]
export type TumblrOptions = NonNullable<Options['tumblr']>
export type Poll = NonNullable<MastodonOptions['poll']>

/** The options of a platform with a part replaced, or taken away by undefined. */
export type Change<T> = (part: { [field in keyof T]?: T[field] | undefined }) => void

/** Returns the options with those of a platform changed. Nothing is left of fields and platforms without a value. */
export function withOptions<P extends keyof Options>(
  options: Options,
  platform: P,
  part: Parameters<Change<NonNullable<Options[P]>>>[0],
): Options {
  const changed = Object.entries({ ...options[platform], ...part }).filter(([, value]) => isSet(value))
  const { [platform]: _, ...others } = options
  return changed.length === 0 ? others : { ...options, [platform]: Object.fromEntries(changed) }
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)

export const MIN_POLL_OPTIONS = 2
export const MAX_POLL_OPTIONS = 4

const DAY_SECONDS = 86_400

export const newPollOptions = (): string[] => ['', '']

export const newPoll = (): Poll => ({ options: newPollOptions(), expiresIn: DAY_SECONDS })

/** How long a poll may run, by seconds. */
const POLL_TIMES: Record<number, string> = {
  300: '5 minutes',
  1_800: '30 minutes',
  3_600: '1 hour',
  21_600: '6 hours',
  43_200: '12 hours',
  [DAY_SECONDS]: '1 day',
  [3 * DAY_SECONDS]: '3 days',
  [7 * DAY_SECONDS]: '7 days',
}

export const namePollTime = (seconds: number): string => POLL_TIMES[seconds] ?? `${seconds} seconds`

/** Returns the times to choose from, with that of the poll. */
export function listPollTimes(current: number): { value: string; label: string }[] {
  const seconds = [...new Set([...Object.keys(POLL_TIMES).map(Number), current])].toSorted((one, other) => one - other)
  return seconds.map((value) => ({ value: `${value}`, label: namePollTime(value) }))
}

const LANGUAGES =
  'ar bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kn ko lt lv mk ml mr ms nb nl pa pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur vi zh'.split(
    ' ',
  )

/** Returns the languages to choose from by name, with those that were chosen elsewhere. */
export function listLanguages(chosen: string[]): { value: string; label: string }[] {
  const names = new Intl.DisplayNames('en', { type: 'language' })
  return [...new Set([...LANGUAGES, ...chosen])]
    .map((value) => ({ value, label: names.of(value) ?? value }))
    .toSorted((one, other) => one.label.localeCompare(other.label))
}

export const BLUESKY_LABELS: Record<NonNullable<BlueskyOptions['labels']>[number], string> = {
  sexual: 'Suggestive',
  nudity: 'Nudity',
  porn: 'Adult content',
  'graphic-media': 'Graphic media',
}

type ReplyGate = NonNullable<BlueskyOptions['replyGate']>

export const REPLY_GATES: Record<ReplyGate[number], string> = {
  none: 'No one',
  mentioned: 'Accounts that you mention',
  following: 'Accounts that you follow',
  followers: 'Your followers',
}

/** Returns who can reply after a choice: "no one" and the groups exclude each other, and the newest choice counts. */
export const toReplyGate = (chosen: ReplyGate): ReplyGate =>
  chosen.at(-1) === 'none' ? ['none'] : chosen.filter((one) => one !== 'none')

export const REPLY_CONTROLS: Record<NonNullable<ThreadsOptions['replyControl']>, string> = {
  everyone: 'Everyone',
  following: REPLY_GATES.following,
  mentioned: REPLY_GATES.mentioned,
  followers: REPLY_GATES.followers,
}

export const KINDS: Record<NonNullable<InstagramOptions['kind']>, string> = {
  feed: 'Post in the feed',
  reel: 'Reel',
  story: 'Story, for 24 hours',
}

export const VISIBILITIES: Record<NonNullable<MastodonOptions['visibility']>, string> = {
  public: 'Public',
  unlisted: 'Unlisted: public, but not in feeds',
  private: 'Followers only',
}

/** The choices of a field. */
export const toChoices = <K extends string>(labels: Record<K, string>): { value: K; label: string }[] =>
  Object.entries<string>(labels).map(([value, label]) => ({ value: value as K, label }))
