import type { UserStore } from '../../store/users/users.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { findTimezoneProblem } from '../../domain/shared/timezones.ts'

/** @throws ServiceError VALIDATION_FAILED */
export async function changeTimezone(
  { users }: { users: UserStore },
  { userId, timezone }: { userId: string; timezone: string },
): Promise<void> {
  const problem = findTimezoneProblem(timezone)
  if (problem) throw new ServiceError('VALIDATION_FAILED', problem.message, { errors: [problem] })
  await users.setTimezone(userId, timezone)
}
