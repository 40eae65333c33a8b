import type { Clock } from '../../clock.ts'
import { toSchedule } from '../../domain/posts/post-moves.ts'
import { preflight, findSchedulingProblem, type Preflight } from '../../domain/posts/preflight.ts'
import type { ObjectStorage } from '../../integrations/storage/storage.ts'
import { findDuePlace, type DuePlaceDeps } from './due-place.ts'
import { findDelayWarnings, type DelayWarningsDeps } from './foresee-delays.ts'
import { loadPostAccounts, type PostAccountsDeps } from './post-accounts.ts'
import { readWholePost, type WholePostInput } from './post-input.ts'

export interface ValidatePostDeps extends PostAccountsDeps, DelayWarningsDeps, DuePlaceDeps {
  posts: DelayWarningsDeps['posts'] & DuePlaceDeps['posts']
  platforms: PostAccountsDeps['platforms'] & DelayWarningsDeps['platforms']
  storage: Pick<ObjectStorage, 'publicUrl'>
  clock: Clock
}

/** Returns every error and warning that creating this post would cause. Drafts are checked as if they were published. */
export async function validatePost(
  deps: ValidatePostDeps,
  userId: string,
  input: WholePostInput,
): Promise<Preflight & { valid: boolean }> {
  const now = deps.clock.now()
  const { value, problems, warnings } = readWholePost(input, { userId, publicUrl: deps.storage.publicUrl, now })
  const { scheduledAt = null, timezone } = value
  const [accounts, place] = await Promise.all([
    loadPostAccounts(deps, userId, value),
    scheduledAt ? findDuePlace(deps, userId, scheduledAt) : undefined,
  ])
  const targets = accounts.toTargets(accounts.chosen)
  const checked = preflight(value, targets)
  const { dueAt, status } = toSchedule(scheduledAt, now, place)
  const delays = await findDelayWarnings(deps, { userId, scheduledAt, dueAt, timezone }, targets)
  const unscheduled = findSchedulingProblem(input.status, { status }, warnings)
  const errors = [...problems, ...accounts.problems, ...(unscheduled ? [unscheduled] : []), ...checked.errors]
  return { ...checked, errors, warnings: [...warnings, ...checked.warnings, ...delays], valid: errors.length === 0 }
}
