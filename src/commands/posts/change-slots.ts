import { findPlanProblems, normalizeTimes, type SlotPlan, type UserSlots } from '../../domain/posts/slots.ts'
import { assertRevision } from '../../domain/shared/revisions.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'
import { refuseProblems } from './post-input.ts'

/**
 * Replaces the weekly times of all accounts and groups of a user. Posts that have taken a slot keep their time.
 * @param revisions the revisions of the slots that are replaced; undefined for any
 * @throws ServiceError VALIDATION_FAILED, PRECONDITION_FAILED
 */
export async function changeSlots(
  deps: CommandContext,
  userId: string,
  { plans, revisions }: { plans: readonly SlotPlan[]; revisions: readonly number[] | undefined },
): Promise<UserSlots> {
  refuseProblems(findPlanProblems(plans))
  return deps.database.transaction(async (session) => {
    // Locks the user's record, so that no account or group with slots ends meanwhile.
    await deps.users.raiseAnalyticsVersion(userId, session)
    const { revision } = await deps.slots.find(userId)
    assertRevision(revision, revisions)
    refuseProblems(await findUnknown(deps, userId, plans))
    const stored = plans.map((plan) => ({ ...plan, times: normalizeTimes(plan.times) }))
    return deps.slots.replace({ _id: userId, plans: stored, revision }, session)
  }, userId)
}

async function findUnknown({ accounts, groups }: CommandContext, userId: string, plans: readonly SlotPlan[]) {
  const [connected, known] = await Promise.all([accounts.listConnected(userId), groups.listOf(userId)])
  const ids = { account: new Set(connected.map(({ _id }) => _id)), group: new Set(known.map(({ _id }) => _id)) }
  return plans.flatMap(({ kind, id }, index): Problem[] => {
    if (ids[kind].has(id)) return []
    const path = `slots.${index}.${kind}Id`
    return [
      {
        path,
        code: kind === 'account' ? 'ACCOUNT_NOT_FOUND' : 'GROUP_NOT_FOUND',
        message: `You have no ${kind} ${JSON.stringify(id)}`,
      },
    ]
  })
}
