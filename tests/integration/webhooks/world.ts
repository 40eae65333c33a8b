import { MockActivityEnvironment } from '@temporalio/testing'
import { createDeliverWebhooksActivities } from '../../../src/activities/webhooks/deliver-webhooks.ts'
import type { Context } from '../../../src/context.ts'
import type { NewEvent } from '../../../src/domain/events/events.ts'
import type { RoundResult } from '../../../src/workflows/contract/rounds.ts'
import { unique } from '../../support/servers.ts'
import { partial } from '../../support/partial.ts'

/** An event of a post. */
export function postEvent(postId: string, changes: Partial<NewEvent> = {}): NewEvent {
  return { id: unique('evt_test'), type: 'post.published', occurredAt: new Date(), data: { postId }, ...changes }
}

type EventDeps = Pick<Context, 'database' | 'events'>

/** Stores events of a user as a change would, without informing this process. */
export async function storeEvents({ database, events }: EventDeps, userId: string, added: NewEvent[]): Promise<void> {
  await database.transaction((session) => events.append(userId, added, session))
}

/** Stores events of a user, and informs this process. */
export async function addEvents(deps: EventDeps, userId: string, added: NewEvent[]): Promise<void> {
  await storeEvents(deps, userId, added)
  deps.events.announce([userId])
}

/** Returns a function that runs one round of deliveries, as the workflow does. It returns when the next one is due. */
export function createRounds(
  context: Context,
  changes: { webhookSlots?: number; webhooks?: Context['webhooks'] } = {},
) {
  const activities = createDeliverWebhooksActivities(
    partial({ ...context, webhookSlots: 10, draining: new AbortController().signal, ...changes }),
  )
  return async (userId: string, webhookId: string): Promise<Date | null> => {
    const run = () => activities.deliverRound(webhookId, userId)
    const { nextAt } = await new MockActivityEnvironment().run<[], RoundResult, typeof run>(run)
    return nextAt === null ? null : new Date(nextAt)
  }
}
