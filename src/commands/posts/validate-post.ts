import type { Contents } from '../../domain/posts/content.ts'
import type { MediaFiles } from '../../domain/posts/media-files.ts'
import { toSchedule } from '../../domain/posts/post-moves.ts'
import { isTooLarge } from '../../domain/posts/post-size.ts'
import { preflight, findSchedulingProblem, type PastTime, type Preflight } from '../../domain/posts/preflight.ts'
import { NEXT_SLOT } from '../../domain/posts/slots.ts'
import { ServiceError, type Problem } from '../../domain/shared/service-error.ts'
import { findDueOrder } from './due-order.ts'
import { findDelayWarnings } from './forecast-delays.ts'
import { leaveOut } from './left-out.ts'
import { loadUserAccounts, type FindNamedAccounts, type PostAccounts } from './post-accounts.ts'
import { readWholePost, toInputContext, type InputContext, type WholePostInput } from './post-input.ts'
import { findWantedSlot } from './find-slots.ts'
import { readMediaFiles } from './read-media-files.ts'
import type { CommandContext } from '../context.ts'

export interface CheckedPost extends Preflight {
  value: ReturnType<typeof readWholePost>['value']
  /** Without the accounts that are left out. */
  targets: ReturnType<PostAccounts['toTargets']>
  groups: PostAccounts['groups']
  /** The errors that refuse a draft as well. */
  draftErrors: Problem[]
}

/** The findings for a post that is too large to check. */
const UNCHECKED: Preflight = { errors: [], warnings: [], platforms: {}, accounts: {} }

/**
 * Returns every error and warning that creating this post would cause. Drafts are checked as if they were published.
 * @param defaultHoldSeconds the user's setting, for an input without `holdSeconds`
 */
export async function validatePost(
  deps: CommandContext,
  { userId, defaultHoldSeconds }: { userId: string; defaultHoldSeconds: number },
  input: WholePostInput,
  past: PastTime = 'publish',
): Promise<Preflight & { valid: boolean; nextSlot: Date | null }> {
  const now = deps.clock.now()
  const { findNamedAccounts } = await loadUserAccounts(deps, userId)
  const inputContext = toInputContext(deps, userId)
  const readFiles = (post: Contents) => readMediaFiles(deps, userId, post)
  const options = { past, readFiles }
  const checked = await checkPost(input, inputContext, findNamedAccounts, options)
  const { value, targets, errors, platforms, accounts } = checked
  const slot = await tryFindSlot(deps, userId, input)
  const { holdSeconds = defaultHoldSeconds, timezone } = value
  const scheduledAt = slot.found?.at ?? value.scheduledAt ?? null
  const dueOrder = scheduledAt ? await findDueOrder(deps, userId, scheduledAt) : undefined
  const { dueAt } = toSchedule(scheduledAt, now, { dueOrder, holdSeconds })
  const delays = await findDelayWarnings(deps, { userId, scheduledAt, dueAt, timezone }, targets)
  const allErrors = [...errors, ...slot.problems]
  const warnings = [...checked.warnings, ...delays]
  const nextSlot = slot.found?.at ?? null
  return { errors: allErrors, platforms, accounts, warnings, valid: allErrors.length === 0, nextSlot }
}

async function tryFindSlot(deps: CommandContext, userId: string, input: WholePostInput) {
  try {
    return { found: await findWantedSlot(deps, userId, input), problems: [] }
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.errors) throw error
    return { found: null, problems: error.errors }
  }
}

/** Checks a post without the delays that depend on other posts; without `readFiles` also without its files. */
export async function checkPost(
  input: WholePostInput,
  inputContext: InputContext,
  findNamedAccounts: FindNamedAccounts,
  { past = 'publish', readFiles }: { past?: PastTime; readFiles?: (post: Contents) => Promise<MediaFiles> } = {},
): Promise<CheckedPost> {
  const { value, problems, warnings } = readWholePost(input, inputContext)
  const named = { ...value, selectedGroups: input.selectedGroups }
  const isUnchecked = isTooLarge(problems)
  const [accounts, files] = await Promise.all([findNamedAccounts(named), isUnchecked ? undefined : readFiles?.(value)])
  const targets = accounts.toTargets(accounts.chosen)
  const checked = isUnchecked ? UNCHECKED : preflight(value, targets, files)
  const { remaining, problems: leftOut } = leaveOut(targets, value)
  const schedule =
    input.scheduledAt === NEXT_SLOT
      ? { status: 'SCHEDULED' as const }
      : toSchedule(value.scheduledAt ?? null, inputContext.now)
  const unscheduled = findSchedulingProblem(input.status, schedule, warnings, past)
  const draftErrors = [...problems, ...accounts.problems, ...leftOut, ...(unscheduled ? [unscheduled] : [])]
  return {
    ...checked,
    draftErrors,
    errors: [...draftErrors, ...checked.errors],
    warnings: [...warnings, ...checked.warnings],
    value,
    targets: remaining,
    groups: accounts.groups,
  }
}
