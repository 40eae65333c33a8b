import { systemClock } from '../../../src/clock.ts'
import type { Config } from '../../../src/config/schema.ts'
import { apiWorld, type SignedIn } from '../../support/api.ts'
import { createAccessTokens } from '../../support/sessions.ts'
import { newNotification } from '../../support/notifications.ts'

/** A listening API with a clock that tests can advance. */
export async function realtimeWorld(overrides: Partial<Config> = {}) {
  let ahead = 0
  const clock = { ...systemClock, now: () => new Date(Date.now() + ahead) }
  const world = await apiWorld(overrides, { clock })
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' })

  return {
    ...world,
    address,

    /** Issues a token of the same session with the given lifetime. */
    async tokenFor({ user, accessToken }: SignedIn, ttlSeconds: number): Promise<string> {
      const { sessionId } = world.context.accessTokens.verify(accessToken)!
      const { _id: userId, role, tokenVersion: version } = user
      const tokens = await createAccessTokens({ ...world.context.config, ACCESS_TOKEN_TTL_SECONDS: ttlSeconds })
      return tokens.issue({ userId, role, sessionId, version })
    },

    putForward: (ms: number): void => void (ahead += ms),

    /** Stores a notification like a worker and returns its message, which identifies it. */
    async notify(who: SignedIn): Promise<string> {
      const notification = newNotification(who.user._id)
      const message = `${notification.message} ${notification.dedupeKey}`
      await world.context.notifications.insertOnce({ ...notification, message })
      return message
    },

    /** Returns the value of a metric, such as `postonce_sockets_open{transport="plain"}`. */
    async figure(name: string): Promise<number> {
      const line = (await world.context.metrics.text()).split('\n').find((text) => text.startsWith(`${name} `))
      return Number(line?.split(' ').at(-1))
    },
  }
}

export type RealtimeWorld = Awaited<ReturnType<typeof realtimeWorld>>
