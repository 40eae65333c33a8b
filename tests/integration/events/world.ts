import type { ApiWorld, SignedIn } from '../../support/api.ts'
import type { EventJson } from '../../../src/domain/events/events.ts'
import { startUnsentMails } from '../../support/unsent-mails.ts'
import { apiWorld } from '../../support/api.ts'
import { unique } from '../../support/servers.ts'

/** Two API processes of one deployment that listen, in the process of the test. */
export async function eventsWorld() {
  const first = await startUnsentMails()
  const second = await apiWorld({ ...first.context.config, TEMPORAL_NAMESPACE: unique('test') })
  const addresses = [await listen(first), await listen(second)] as const

  const call = (
    who: Pick<SignedIn, 'headers'>,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
  ) => first.app.inject({ method, url, headers: who.headers, ...(payload && { payload }) })

  async function createPost(
    { headers }: Pick<SignedIn, 'headers'>,
    input: object = {},
    world: ApiWorld = first,
  ): Promise<string> {
    const payload = {
      content: { text: 'Good morning' },
      selectedPlatforms: ['bluesky'],
      scheduledAt: '2090-05-01T09:30:00Z',
      ...input,
    }
    const response = await world.app.inject({ method: 'POST', url: '/api/posts', headers, payload })
    if (response.statusCode !== 201) throw new Error(response.body)
    return response.json().data.postId
  }

  /** Resolves when every event of both processes is in its feed. */
  const relayed = () => Promise.all([first, second].map(({ context }) => context.eventRelay.idle()))

  return {
    first,
    second,
    addresses,
    call,
    createPost,
    relayed,

    /** Reads a page of the feed, once every event is in it. */
    async read(who: Pick<SignedIn, 'headers'>, query = '') {
      await relayed()
      return call(who, 'GET', `/api/events${query}`)
    },

    /** All events of a user's feed. */
    async feedOf({ user }: SignedIn): Promise<EventJson[]> {
      await relayed()
      const events = await first.context.events.list(user._id, { after: 0, limit: 10_000 })
      return events.map(({ occurredAt, userId: _userId, ...event }) => ({
        ...event,
        timestamp: occurredAt.toISOString(),
      }))
    },

    async close(): Promise<void> {
      await second.close()
      await first.close()
    },
  }
}

export type EventsWorld = Awaited<ReturnType<typeof eventsWorld>>

const listen = ({ app }: ApiWorld): Promise<string> => app.listen({ port: 0, host: '127.0.0.1' })
