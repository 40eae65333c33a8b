import type { UserStore } from '../../store/users/users.ts'
import { findNameProblems, normalizeName } from '../../domain/shared/names.ts'
import { validationFailed } from '../../domain/shared/service-error.ts'

/** @throws ServiceError VALIDATION_FAILED */
export async function changeName(
  { users }: { users: UserStore },
  { userId, name }: { userId: string; name: string },
): Promise<void> {
  const problems = findNameProblems(name)
  if (problems.length > 0) throw validationFailed(problems)
  await users.setName(userId, normalizeName(name))
}
