import type { Clock } from '../../clock.ts'
import { preflight, findSchedulingProblem, type Preflight } from '../../domain/posts/preflight.ts'
import type { ObjectStorage } from '../../integrations/storage/storage.ts'
import { loadPostAccounts, type PostAccountsDeps } from './post-accounts.ts'
import { readWholePost, type WholePostInput } from './post-input.ts'

export interface ValidatePostDeps extends PostAccountsDeps {
  storage: Pick<ObjectStorage, 'publicUrl'>
  clock: Clock
}

/** Returns every error and warning that creating this post would cause. Drafts are checked as if they were published. */
export async function validatePost(
  deps: ValidatePostDeps,
  userId: string,
  input: WholePostInput,
): Promise<Preflight & { valid: boolean }> {
  const inputContext = { userId, publicUrl: deps.storage.publicUrl, now: deps.clock.now() }
  const { value, problems, warnings } = readWholePost(input, inputContext)
  const accounts = await loadPostAccounts(deps, userId, value)
  const checked = preflight(value, accounts.toTargets(accounts.chosen))
  const unscheduled = findSchedulingProblem(
    input.status,
    { status: value.scheduledAt ? 'SCHEDULED' : 'PENDING' },
    warnings,
  )
  const errors = [...problems, ...accounts.problems, ...(unscheduled ? [unscheduled] : []), ...checked.errors]
  return { ...checked, errors, warnings: [...warnings, ...checked.warnings], valid: errors.length === 0 }
}
