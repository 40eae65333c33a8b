import type { Context } from '../context.ts'
import { nameProblem, normalizeName } from '../domain/names.ts'
import { ServiceError } from '../domain/service-error.ts'

/** @throws ServiceError VALIDATION_FAILED */
export async function changeName(
  { users }: Pick<Context, 'users'>,
  { userId, name }: { userId: string; name: string },
): Promise<void> {
  const problem = nameProblem(name)
  if (problem) {
    throw new ServiceError('VALIDATION_FAILED', `The name ${problem}`, {
      errors: [{ path: 'name', code: 'NAME_NOT_ALLOWED', message: problem }],
    })
  }
  await users.setName(userId, normalizeName(name))
}
