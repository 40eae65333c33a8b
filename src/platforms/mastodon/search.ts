import type { Segment } from '../../domain/posts/post.ts'
import type { PostingRules } from '../../domain/posts/posting-rules.ts'
import { CLOCK_TOLERANCE_MS, listSince } from '../shared/list-since.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  SearchOptions,
  NotFoundResult,
} from '../contract.ts'
import { hasDifferentWords } from '../shared/text-difference.ts'
import { isNoLongerInFlight, type InFlightTimes } from '../shared/in-flight.ts'
import { readStatuses, readStatusSource, type Status } from './responses.ts'
import type { Api } from './api.ts'
import type { ApplicationName } from './application-name.ts'
import { isFinalRefusal } from './errors.ts'
import { toPlainText } from './html.ts'
import type { createInstanceLimits } from './instance-limits.ts'
import { compareFiles } from './media.ts'

interface SearchDeps {
  api: Api
  application: ApplicationName
  limits: ReturnType<typeof createInstanceLimits>
  times: InFlightTimes
}

const PAGE = 40
const MAX_PAGES = 5
/** How many statuses with other text are compared by their source. */
const MAX_UNLIKE = 10

/**
 * Searches the account's own statuses for what an earlier call published (docs/design/exactly-once.md). The idempotency
 * key is no help: some servers ignore it, all forget it after an hour, and a repeat would publish. Where the server
 * honours it, it shortens the wait until `absent` is certain.
 */
export function createSearch({ api, application, limits, times }: SearchDeps) {
  /** True once the server has shown a file under the id of its upload. */
  let hasOwnIds = false

  async function find(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Status | NotFoundResult> {
    const statuses = await listStatusesSince(delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS, account, options)
    if (!statuses) return 'undecidable'
    const candidates: Status[] = []
    const ourName = statuses.length > 0 ? await application.find(account, options) : null
    for (const status of statuses) {
      if (mayBeOwnStatus(status, ourName) && hasParent(status, post) && !(await options.isTaken(status.id)))
        candidates.push(status)
    }
    // Of equal matches the oldest is taken; the others belong to posts that are reconciled later.
    const oldestFirst = candidates.toReversed()
    const [alike, unlike] = [true, false].map((isEqual) =>
      oldestFirst.filter((one) => isShownAs(one, post.content) === isEqual),
    )
    // For a restored post there may be many, and most show other words.
    const doubtful = options.isRestored ? unlike!.filter((one) => mayShow(one, post.content)) : unlike!
    let isUnclear = doubtful.length > MAX_UNLIKE
    let likely: Status | null = null
    const { honoursKeys, rules } = await limits(options)
    for (const candidate of [...alike!, ...doubtful.slice(0, MAX_UNLIKE)]) {
      const similarity = await compare(candidate, { post, account, delivery, rules }, options)
      if (similarity === 'same') return candidate
      if (similarity === 'alike') likely ??= candidate
      isUnclear ||= similarity === 'unclear'
    }
    // One with the ids of our files comes first.
    if (likely) return likely
    if (!isNoLongerInFlight(options, honoursKeys, times)) return 'in-flight'
    return isUnclear ? 'undecidable' : 'absent'
  }

  /** Returns the newest first; `null` when there are too many to search. */
  async function listStatusesSince(since: number, account: Credentials, { signal }: SearchOptions) {
    const path = `/api/v1/accounts/${encodeURIComponent(account.accountId)}/statuses`
    const { found, isComplete } = await listSince({
      since,
      maxPages: MAX_PAGES,
      toTime: ({ created_at }: Status) => Date.parse(created_at),
      async load(next) {
        const params = { limit: String(PAGE), exclude_reblogs: 'true', ...(next !== undefined && { max_id: next }) }
        const { body } = await api.get(path, params, readStatuses, { token: account.accessToken, signal })
        return { found: body, next: body.at(-1)?.id }
      },
    })
    return isComplete ? found.filter(({ reblog }) => !reblog) : null
  }

  /**
   * Compares a status with the post. `alike`: its files have other ids. `unclear`: it may be this post with its text changed by the author or
   * the server.
   */
  async function compare(
    status: Status,
    { post, account, delivery, rules }: Compared,
    options: SearchOptions,
  ): Promise<'same' | 'alike' | 'other' | 'unclear'> {
    const { text } = post.content
    const source = await fetchSource(api, status, account, options)
    const isSameText = hasText(status, source, text)
    if (isSameText) {
      const isKnown = hasOwnIds && !options.isRestored
      const files = compareFiles(status.media_attachments, post, delivery, { rules, hasOwnIds: isKnown })
      // Without a text, any status with such files may be this post.
      if (files !== 'other') return options.isRestored && text === '' ? 'unclear' : files
    }
    return status.edited_at === null && source !== null && hasDifferentWords(source, text) ? 'other' : 'unclear'
  }

  /** Learns from a status that is certainly ours whether the server shows files under the ids of their uploads. */
  function learnIds({ media_attachments: files }: Status, uploaded: readonly string[]): void {
    hasOwnIds ||= files.some(({ id }) => uploaded.includes(id))
  }

  return { find, learnIds }
}

/** Returns the text as it was sent; `null` when the server does not provide it. */
export async function fetchSource(
  api: Api,
  { id }: Pick<Status, 'id'>,
  account: Credentials,
  { signal }: CallOptions,
): Promise<string | null> {
  const path = `/api/v1/statuses/${encodeURIComponent(id)}/source`
  try {
    return (await api.get(path, {}, readStatusSource, { token: account.accessToken, signal })).body.text
  } catch (error) {
    if (isFinalRefusal(error)) return null
    throw error
  }
}

/** @param source see `fetchSource` */
export function hasText(status: Pick<Status, 'content'>, source: string | null, text: string): boolean {
  return source === null ? isShownAs(status, { text }) : normalizeText(source) === normalizeText(text)
}

interface Compared {
  post: OutgoingPost
  account: Credentials
  delivery: DeliveryCheckpoints
  rules: PostingRules
}

function mayBeOwnStatus({ application }: Status, ourName: string | null): boolean {
  return ourName === null || !application || application.name === ourName
}

/** Distinguishes the parts of a thread. */
function hasParent({ in_reply_to_id: parentId }: Status, { replyTo }: OutgoingPost): boolean {
  return parentId === undefined || parentId === (replyTo?.parentId ?? null)
}

/** Mastodon trims texts and changes nothing else. */
function normalizeText(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim()
}

/** Compares displayed texts, without white space that HTML may have changed and without the servers of mentions. */
function isShownAs({ content }: Pick<Status, 'content'>, { text }: Pick<Segment, 'text'>): boolean {
  return toComparable(toPlainText(content)) === toComparable(text)
}

/** Markup of some servers whose letters they do not show. */
const HIDING_MARKUP = /\]\(|\$\[|</

/** Returns whether a status may show this text although `isShownAs` finds a difference. */
function mayShow({ content, edited_at }: Status, { text }: Segment): boolean {
  if (edited_at !== null || HIDING_MARKUP.test(text)) return true
  return !hasDifferentWords(toComparable(toPlainText(content)), toComparable(text))
}

const toComparable = (written: string): string =>
  written.replace(/(@[\w.-]*\w)@[\w.-]*\w(:\d+)?/g, '$1').replace(/\s+/g, '')
