import type { Clock } from '../../clock.ts'
import { preflight, findSchedulingProblem, type Preflight } from '../../domain/posts/preflight.ts'
import type { ObjectStorage } from '../../integrations/storage/storage.ts'
import { findQuotaWarnings, type ForeseeDelaysDeps } from './foresee-delays.ts'
import { loadPostAccounts, type PostAccountsDeps } from './post-accounts.ts'
import { readWholePost, type WholePostInput } from './post-input.ts'

export interface ValidatePostDeps extends PostAccountsDeps, ForeseeDelaysDeps {
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
  const accounts = await loadPostAccounts(deps, userId, value)
  const targets = accounts.toTargets(accounts.chosen)
  const checked = preflight(value, targets)
  const planned = { userId, dueAt: value.scheduledAt ?? now, timezone: value.timezone }
  const delays = await findQuotaWarnings(deps, planned, targets)
  const unscheduled = findSchedulingProblem(
    input.status,
    { status: value.scheduledAt ? 'SCHEDULED' : 'PENDING' },
    warnings,
  )
  const errors = [...problems, ...accounts.problems, ...(unscheduled ? [unscheduled] : []), ...checked.errors]
  return { ...checked, errors, warnings: [...warnings, ...checked.warnings, ...delays], valid: errors.length === 0 }
}
