import { findPreferenceProblems, type NotificationPreferences } from '../../domain/users/notification-preferences.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

/**
 * Switches channels on or off, and returns the preferences after it.
 * @throws ServiceError VALIDATION_FAILED, UNAUTHORIZED
 */
export async function changePreferences(
  { users }: Pick<CommandContext, 'users'>,
  userId: string,
  change: NotificationPreferences,
): Promise<NotificationPreferences> {
  const problems = findPreferenceProblems(change)
  if (problems.length > 0) throw validationFailed(problems)
  const preferences = await users.setNotificationPreferences(userId, change)
  if (!preferences) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  return preferences
}
