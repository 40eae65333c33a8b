import { EVENT_TYPES, type EventType } from '../../domain/events/events.ts'
import { parseList } from '../../domain/shared/lists.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import type { EventStore } from '../../store/events/events.ts'

/**
 * Parses the types of a query; undefined means all.
 * @throws ServiceError VALIDATION_FAILED
 */
export function parseTypes(text: string | undefined): EventType[] | undefined {
  if (text === undefined) return undefined
  const types = parseList(text)
  const unknown = types.find((type) => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown === undefined && types.length > 0) return types as EventType[]
  const message = `Unknown event type. Choose from: ${EVENT_TYPES.join(', ')}.`
  throw validationFailed([{ path: 'types', code: 'UNKNOWN_EVENT_TYPE', message }])
}

/**
 * Returns the range of the feed, after checking that nothing between `after` and the oldest event was removed.
 * @param after 0 for a reader that has no events yet
 * @throws ServiceError EVENTS_EXPIRED when the reader has missed events
 */
export async function readRange(
  events: EventStore,
  userId: string,
  after: number,
): Promise<{ oldest: number; latest: number }> {
  // The latest comes first: events that are appended in between do not make the range wrong.
  const latest = await events.latestSequence(userId)
  const oldest = (await events.oldestSequence(userId)) ?? latest + 1
  // guard: missed events
  if (after === 0 || after >= oldest - 1) return { oldest, latest }
  const message =
    'Events after this sequence are no longer stored. Read the current state, then continue from `latest`.'
  throw new ServiceError('EVENTS_EXPIRED', message, { details: { oldest, latest } })
}
