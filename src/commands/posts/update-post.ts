import { resolveGroups, type AccountGroup } from '../../domain/accounts/groups.ts'
import { changeSelection } from '../../domain/accounts/selection.ts'
import { collectMediaKeys, withoutEmptyParts } from '../../domain/posts/content.ts'
import { correctTypes, NO_FILES } from '../../domain/posts/media-files.ts'
import { findAbandoned, findEntry } from '../../domain/posts/post-entries.ts'
import { edit, replaceFailed, toChosen, type PostChange } from '../../domain/posts/post-moves.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { findSizeProblems } from '../../domain/posts/post-size.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { preflight, SCHEDULED_IN_PAST, findSchedulingProblem } from '../../domain/posts/preflight.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { assertRevision } from '../../domain/shared/revisions.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import { ignoreNotFound, postNotFound } from '../../store/posts/post-not-found.ts'
import { findDueOrder } from './due-order.ts'
import { findDelayWarnings } from './forecast-delays.ts'
import { holdMedia } from './hold-media.ts'
import { leaveOut } from './left-out.ts'
import { hasSources, storeSources } from './media-sources.ts'
import { loadUserAccounts } from './post-accounts.ts'
import { notifyWorkflow } from '../shared/notify-workflow.ts'
import { buildCreatedNotifications } from './post-created.ts'
import {
  findSelectionProblems,
  readChange,
  readWholePost,
  refuseProblem,
  refuseProblems,
  toInputContext,
  type InputContext,
  type PostInput,
  type WholePostInput,
} from './post-input.ts'
import { findWantedSlot, storeInSlot } from './find-slots.ts'
import { readMediaFiles } from './read-media-files.ts'
import type { CommandContext } from '../context.ts'

export interface UpdatePostRequest {
  userId: string
  postId: string
  /** The user's setting, for an update without `holdSeconds` that makes the post immediate; 0 by default. */
  defaultHoldSeconds?: number
  /** `replace` takes everything but an absent time from the input; `patch` takes only the given fields. */
  update: { kind: 'replace'; input: WholePostInput } | { kind: 'patch'; input: PostInput }
  /** The revisions of the post to which the change applies; undefined for any. */
  revisions?: readonly number[] | undefined
  /** Throws when the caller may change drafts only. Called when the post is no draft, or would become a published post. */
  assertMayPublish: () => void
}

/**
 * Changes a draft or a post that delivery has not claimed, and publishes a draft when the input's status says so.
 * @throws ServiceError NOT_FOUND, VALIDATION_FAILED, POST_NOT_EDITABLE, PRECONDITION_FAILED, or the error of `assertMayPublish`
 */
export async function updatePost(
  deps: CommandContext,
  request: UpdatePostRequest,
): Promise<{ post: Post; warnings: Problem[] }> {
  const fetched = hasSources(request.update.input) ? await fetchSources(deps, request) : request
  return storeInSlot(request.userId, request.update.input, () => changePost(deps, fetched))
}

async function fetchSources(deps: CommandContext, request: UpdatePostRequest): Promise<UpdatePostRequest> {
  const { userId, postId, update } = request
  const stored = await deps.posts.findOwned(userId, postId)
  if (!stored) throw postNotFound()
  // Nothing is fetched for an update that is refused.
  parseUpdate(update, stored.timezone, toInputContext(deps, userId))
  const input = await storeSources(deps, userId, update.input)
  return { ...request, update: { ...update, input } as UpdatePostRequest['update'] }
}

async function changePost(
  deps: CommandContext,
  { userId, postId, defaultHoldSeconds, update, revisions, assertMayPublish }: UpdatePostRequest,
): Promise<{ post: Post; warnings: Problem[] }> {
  const stored = await deps.posts.findOwned(userId, postId)
  if (!stored) throw postNotFound()
  const inputContext = toInputContext(deps, userId)
  const { toChange, warnings: timeWarnings } = parseUpdate(update, stored.timezone, inputContext)
  const { selectedPlatforms, selectedAccounts, ...others } = toChange(stored)
  const { connected, listGroups, findPostAccounts } = await loadUserAccounts(deps, userId)
  const { selectedGroups } = update.input
  const named = selectedGroups && (await readGroups(stored, selectedGroups, { listGroups, kind: update.kind }))
  const selection = changeSelection(stored, { selectedPlatforms, selectedAccounts, groups: named?.found }, connected)
  // Whoever replaces the whole post repeats its platforms. Whoever sends them alone moves an entry whose default account is gone.
  const recorded = stored.platformStatuses
    .map(toChosen)
    .filter(
      ({ target, accountId }) =>
        target !== undefined || update.kind === 'replace' || connected.some(({ _id }) => _id === accountId),
    )
  const { status = stored.status } = update.input
  const slot = await findWantedSlot(deps, userId, {
    ...(update.input.scheduledAt !== undefined && { scheduledAt: update.input.scheduledAt }),
    ...(status === 'DRAFT' && { status }),
    ...selection,
    selectedGroups: selection.groups.map(({ id }) => id),
  })
  const ofSlot = slot && { scheduledAt: slot.at, slotOf: slot.slotOf }
  const { scheduledAt } = { ...stored, ...others, ...ofSlot }
  const changed = { ...stored, ...toChange(stored) }
  const [accounts, dueOrder, files, deletedMedia] = await Promise.all([
    findPostAccounts(selection, recorded),
    scheduledAt ? findDueOrder(deps, userId, scheduledAt) : undefined,
    status === 'DRAFT' ? NO_FILES : readMediaFiles(deps, userId, changed),
    holdMedia(deps, changed, collectMediaKeys(stored)),
  ])
  const isSelected = [selectedPlatforms, selectedAccounts, selectedGroups].some((part) => part !== undefined)
  if (isSelected) {
    refuseProblems([...(named?.problems ?? []), ...accounts.problems])
    refuseProblems(findSelectionProblems({ ...selection, selectedGroups: selection.groups }))
  }

  refuseProblems(deletedMedia)

  let before: PlatformStatus[] = []
  let mediaBefore = new Set<string>()
  let warnings: Problem[] = []
  const applyUpdate: Move = (current, now) => {
    // Before any other problem of the post is revealed.
    if (current.status !== 'DRAFT') assertMayPublish()
    assertRevision(current.revision, revisions)
    before = current.platformStatuses
    mediaBefore = collectMediaKeys(current)
    const given = { ...toChange(current), ...ofSlot }
    const wanted = isSelected ? accounts.chosen : current.platformStatuses.map(toChosen)
    // Also an edit of the content alone may leave out platforms.
    const { remaining: chosen, problems: leftOut } = leaveOut(wanted, { ...current, ...given })
    refuseProblems(leftOut)
    const change = { ...given, ...(isSelected && selection), chosen, ...(dueOrder && { dueOrder }) }
    const edited = correctTypes(edit(change, defaultHoldSeconds)(current, now), files)
    if (edited.status !== 'DRAFT') assertMayPublish()
    refuseProblems(findSizeProblems(edited))
    const checked = preflight(edited, accounts.toTargets(wanted), files)
    const losesTime = edited.status === 'PENDING' && current.status === 'DRAFT' && isPast(current.scheduledAt, now)
    const timing = losesTime && update.input.scheduledAt === undefined ? [SCHEDULED_IN_PAST] : timeWarnings
    if (edited.status !== 'DRAFT') refuseProblems(checked.errors)
    const past =
      update.input.scheduledAt === undefined || isStoredTime(update.input.scheduledAt, current) ? 'publish' : 'refuse'
    refuseProblem(findSchedulingProblem(update.input.status, edited, timing, past))
    warnings = [...timing, ...findMoves(current, edited), ...checked.warnings]
    return edited
  }
  const post = await deps.posts.transition({ _id: postId, userId }, applyUpdate)
  const mediaNow = collectMediaKeys(post)
  await deps.uploads.setNamed(
    [...mediaBefore].filter((key) => !mediaNow.has(key)),
    false,
  )
  if (post.status === 'DRAFT') return { post, warnings }
  const planned = { userId, postId, scheduledAt: post.scheduledAt, dueAt: post.dueAt!, timezone: post.timezone }
  const targets = accounts.toTargets(post.platformStatuses.map(toChosen))
  warnings.push(...(await findDelayWarnings(deps, planned, targets)))
  // The delivery checks what was prepared for an account that stays.
  void deps.discardPrepared(post, findAbandoned(before, post))
  if (post.duplicateOf !== undefined) {
    await ignoreNotFound(deps.posts.transition({ _id: post.duplicateOf, userId }, replaceFailed(post)))
  }
  // Requested on every update and stored once, so that a later update or the sweeper repairs a crash in between.
  for (const created of await buildCreatedNotifications(deps, [post])) await deps.notifications.insertOnce(created)
  await notifyWorkflow(deps, post, 'changed')
  return { post, warnings }
}

/**
 * Returns the groups that an update names. Whoever replaces the whole post repeats its groups, which keep their accounts as a deleted group
 * does. Whoever names a group alone means its present accounts.
 */
async function readGroups(
  { groups: recorded = [] }: Post,
  names: readonly string[],
  { listGroups, kind }: { listGroups: () => Promise<AccountGroup[]>; kind: UpdatePostRequest['update']['kind'] },
) {
  const groups = names.length > 0 ? await listGroups() : []
  const repeated = recorded.filter(({ id }) => kind === 'replace' || !groups.some(({ _id }) => _id === id))
  return resolveGroups(groups, names, { path: 'selectedGroups', recorded: repeated })
}

/** Returns a warning for every entry that the edit moves to another account. */
function findMoves(before: Post, after: Post): Problem[] {
  return after.platformStatuses.flatMap((entry, index): Problem[] => {
    const { platform, accountId, accountName } = entry
    const earlier = findEntry(before, toTarget(entry))
    if (!earlier?.accountId || earlier.accountId === accountId) return []
    const message = `This post is now for the ${platformLabel(platform)} account ${accountName}, no longer for ${earlier.accountName}.`
    return [{ path: `selectedPlatforms.${index}`, code: 'ACCOUNT_CHANGED', message, platform }]
  })
}

/** A client that saves what it has read repeats the time of the post, which may have passed meanwhile. */
function isStoredTime(given: string | null | undefined, { scheduledAt }: Post): boolean {
  return typeof given === 'string' && scheduledAt !== null && Date.parse(given) === scheduledAt.getTime()
}

function isPast(instant: Date | null, now: Date): boolean {
  return instant !== null && instant <= now
}

/** Parses the input once; the returned function applies it to each stored version that the edit meets. */
function parseUpdate(
  update: UpdatePostRequest['update'],
  storedTimezone: string,
  inputContext: InputContext,
): { toChange: (post: Post) => PostChange; warnings: Problem[] } {
  const { status } = update.input
  const wanted = status === undefined ? {} : { status }
  if (update.kind === 'replace') {
    const { value, problems, warnings } = readWholePost(update.input, inputContext)
    refuseProblems(problems)
    const { selectedAccounts } = update.input
    // A whole body without accounts is that of a client that does not know them, whose post keeps theirs.
    const ofAccounts = selectedAccounts && { accountSpecificContent: {}, selectedAccounts }
    return { toChange: () => ({ ...ofAccounts, ...value, ...wanted }), warnings }
  }
  const { value, problems, warnings } = readChange(update.input, storedTimezone, inputContext)
  refuseProblems(problems)
  const { content, ...rest } = value
  const toChange = (post: Post) => ({
    ...rest,
    ...wanted,
    ...(content ? { content: withoutEmptyParts({ ...post.content, ...content }) } : {}),
  })
  return { toChange, warnings }
}
