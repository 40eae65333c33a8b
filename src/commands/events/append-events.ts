import type { NewEvent } from '../../domain/events/events.ts'
import type { CommandContext } from '../context.ts'

/** Appends events whose change is not stored in a record of this service. Can be repeated: the feed refuses events that it has. */
export async function appendEvents(
  { database, events }: CommandContext,
  userId: string,
  appended: readonly NewEvent[],
): Promise<void> {
  await database.transaction((session) => events.append(userId, appended, session), userId)
  events.announce([userId])
}
