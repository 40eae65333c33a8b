import { resolveContent } from './content.ts'
import { failure, type Failure } from './failure.ts'
import { NO_FILES } from './media-files.ts'
import { toParts, type Part } from './parts.ts'
import { findEntry, isOpenEntry, toCauseFields, updateEntry } from './post-entries.ts'
import { MAX_POST_TEXT_BYTES } from './post-size.ts'
import type { Content, Move, PlatformStatus, Post, Revision } from './post.ts'
import {
  countText,
  createTextMeter,
  POSTING_RULES,
  toMediaKind,
  type EditObstacle,
  type PostingRules,
  type TextMeter,
} from './posting-rules.ts'
import { checkText, toKnownContent } from './preflight.ts'
import { listNamed, scheduleChanges } from './published-changes.ts'
import type { Target } from './targets.ts'
import { platformLabel } from '../shared/platforms.ts'
import { ServiceError, validationFailed, type Problem } from '../shared/service-error.ts'

/** Edits of one entry. Further ones are refused, so that the history stays whole. */
export const MAX_REVISIONS = 20

export interface EditRequest {
  text: string
  /** The id of the user, or of the API key after `key:`. */
  requestedBy: string
  /** Absent: every account of the post. */
  accountIds?: readonly string[] | undefined
  /** Returns the rules of an entry's server. */
  rulesOf(entry: PlatformStatus): PostingRules
}

/**
 * Requests that the platforms replace the text of what is published. All named entries are checked first. A repeated request changes nothing.
 * @throws ServiceError POST_NOT_EDITABLE with a problem for each entry that cannot be edited, VALIDATION_FAILED for the text
 */
export function requestEdit({ text, requestedBy, accountIds, rulesOf }: EditRequest): Move {
  return (post, now) => {
    const named = listNamed(post, accountIds)
    const obstacles = [
      ...findUnknownAccounts(named, accountIds),
      ...named.flatMap((entry) => findObstacle(post, entry)),
    ]
    if (obstacles.length > 0 || named.length === 0) {
      const [{ message } = { message: 'Nothing of this post is published.' }] = obstacles
      throw new ServiceError('POST_NOT_EDITABLE', `Nothing was edited. ${message}`, { errors: obstacles })
    }
    const meter = createTextMeter()
    const problems = named.flatMap((entry) => findTextProblems(post, entry, text, { rules: rulesOf(entry), meter }))
    if (problems.length > 0) throw validationFailed(problems)
    const edited = named.filter((entry) => toCurrentText(post, entry) !== text)
    if (edited.length === 0) return post
    const revision: Revision = { text, requestedAt: now, requestedBy, status: 'pending' }
    const platformStatuses = post.platformStatuses.map((entry) =>
      edited.includes(entry) ? { ...entry, revisions: [...(entry.revisions ?? []), revision] } : entry,
    )
    const requested = { ...post, platformStatuses }
    assertStorable(requested)
    return scheduleChanges(requested)
  }
}

/** Returns the first post of an entry with another text. What the platform joins to it stays. */
export function toEditedPart(post: Post, entry: PlatformStatus, text: string): { part: Part; whole: Content } {
  const whole = { ...resolveContent(post, entry), text }
  return { part: toParts(entry.platform, whole)[0]!, whole }
}

/** Returns the index of the edit that is next; null when none is left. */
export function findNextRevision({ revisions = [] }: PlatformStatus): number | null {
  const index = revisions.findIndex(({ status }) => status === 'pending')
  return index < 0 ? null : index
}

/** Records that a call begins. Changes nothing when the edit has ended. */
export function beginEdit(target: Target, index: number): Move {
  return (post, now) =>
    changeRevision(post, target, index, (revision) =>
      revision.status === 'pending' ? { ...revision, calledAt: now } : revision,
    )
}

/** Records that the call did certainly not make the edit. */
export function resetEdit(target: Target, index: number): Move {
  return (post) => changeRevision(post, target, index, ({ calledAt: _, ...revision }) => revision)
}

/** Records that the platform shows the text of an edit, also where a removal has ended it meanwhile. */
export function completeEdit(target: Target, index: number): Move {
  return (post, now) =>
    changeRevision(post, target, index, ({ text, requestedAt, requestedBy }) => {
      return { text, requestedAt, requestedBy, status: 'completed', completedAt: now }
    })
}

/** Records why a platform does not show the text of an edit. */
export function failEdit(target: Target, index: number, reason: Failure): Move {
  return (post) =>
    changeRevision(post, target, index, (revision) =>
      revision.status === 'pending' ? failRevision(revision, reason) : revision,
    )
}

/** Ends the edits that wait, because the post is removed. */
export function cancelEdits(entry: PlatformStatus): PlatformStatus {
  if (findNextRevision(entry) === null) return entry
  const reason = failure('CANCELLED', 'The post is taken back')
  return {
    ...entry,
    revisions: entry.revisions!.map((one) => (one.status === 'pending' ? failRevision(one, reason) : one)),
  }
}

function failRevision({ text, requestedAt, requestedBy }: Revision, reason: Failure): Revision {
  return { text, requestedAt, requestedBy, status: 'failed', ...toCauseFields(reason) }
}

function changeRevision(post: Post, target: Target, index: number, change: (revision: Revision) => Revision): Post {
  const revisions = findEntry(post, target)?.revisions ?? []
  const before = revisions[index]
  if (!before || before.status === 'completed') return post
  const after = change(before)
  return after === before
    ? post
    : scheduleChanges(updateEntry(post, target, { revisions: revisions.with(index, after) }))
}

/** Returns the text that the platform shows, or will show after the edits that wait. */
function toCurrentText(post: Post, entry: PlatformStatus): string {
  return entry.revisions?.findLast(({ status }) => status !== 'failed')?.text ?? resolveContent(post, entry).text
}

function findUnknownAccounts(named: readonly PlatformStatus[], accountIds: readonly string[] = []): Problem[] {
  const known = new Set(named.map(({ accountId }) => accountId))
  return accountIds
    .filter((accountId) => !known.has(accountId))
    .map((accountId) => ({
      ...{ path: 'accounts', code: 'NOT_PUBLISHED', accountId },
      message: 'The post is not for this account. Leave it out.',
    }))
}

/** Returns why an entry cannot be edited; empty when it can. */
function findObstacle(post: Post, entry: PlatformStatus): Problem[] {
  const refuse = (code: string, message: string): Problem[] => [
    { path: 'accounts', code, message, ...toAccountFields(entry) },
  ]
  const { platform, status, removal, revisions = [] } = entry
  const label = platformLabel(platform)
  if (isOpenEntry(entry)) return refuse('NOT_PUBLISHED', `The post is not published on ${label} yet.`)
  if (status !== 'completed') return refuse('NOT_PUBLISHED', `The post is not published on ${label}. Leave it out.`)
  if (removal?.status === 'pending') return refuse('BEING_REMOVED', `The post is being taken back from ${label}.`)
  const { editable, notEditableWith = [], removable } = POSTING_RULES[platform]
  const step = removable ? 'Take it back and publish it again.' : `Edit it in the ${label} app.`
  if (!editable) return refuse('PLATFORM_NOT_SUPPORTED', `${label} lets no program edit posts. ${step}`)
  const content = resolveContent(post, entry)
  const obstacle = notEditableWith.find((part) => HAS_PART[part](content))
  if (obstacle)
    return refuse('PLATFORM_NOT_SUPPORTED', `A post with a ${obstacle} cannot be edited on ${label}. ${step}`)
  if (revisions.length < MAX_REVISIONS) return []
  return refuse(
    'TOO_MANY_EDITS',
    `The post has ${MAX_REVISIONS} edits on ${label}, the most that are possible. ${step}`,
  )
}

const HAS_PART: Record<EditObstacle, (content: Content) => boolean> = {
  video: ({ mediaItems }) => mediaItems.some(({ mimeType }) => toMediaKind(mimeType) === 'video'),
  poll: ({ options }) => options?.mastodon?.poll !== undefined,
}

/** Checks the new text with the media that stay. */
function findTextProblems(
  post: Post,
  entry: PlatformStatus,
  text: string,
  { rules, meter }: { rules: PostingRules; meter: TextMeter },
): Problem[] {
  const about = { path: 'content.text', ...toAccountFields(entry) }
  const { part, whole } = toEditedPart(post, entry, text)
  const content = toKnownContent(entry.platform, part.content, whole, NO_FILES)
  if (text.trim() === '') return [{ ...about, code: 'TEXT_REQUIRED', message: 'An edit needs a text.' }]
  return checkText(entry.platform, content, rules, meter).map((found) => ({ ...about, ...found }))
}

/** @throws ServiceError VALIDATION_FAILED when the edits are too large to store */
function assertStorable({ platformStatuses }: Post): void {
  const texts = platformStatuses.flatMap(({ revisions = [] }) => revisions.map(({ text }) => text))
  const bytes = texts.reduce((sum, text) => sum + countText(text, 'utf8Bytes'), 0)
  const most = 4 * MAX_POST_TEXT_BYTES
  if (bytes <= most) return
  const message = `The edits of this post have ${bytes} bytes in total, and at most ${most} are allowed. Shorten the text.`
  throw validationFailed([{ path: 'content.text', code: 'POST_TOO_LARGE', message }])
}

function toAccountFields({ platform, accountId }: PlatformStatus): Pick<Problem, 'platform' | 'accountId'> {
  return { platform, ...(accountId !== undefined && { accountId }) }
}
