import type { NewEvent } from '../../domain/events/events.ts'
import type { EventStore } from '../../store/events/events.ts'
import type { Database } from '../../store/shared/database.ts'

export interface AppendEventsDeps {
  database: Database
  events: EventStore
}

/** Appends events whose change is not stored in a record of this service. Can be repeated: the feed refuses events that it has. */
export async function appendEvents(
  { database, events }: AppendEventsDeps,
  userId: string,
  appended: readonly NewEvent[],
): Promise<void> {
  await database.transaction((session) => events.append(userId, appended, session), userId)
  events.announce([userId])
}
