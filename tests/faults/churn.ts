import { setTimeout as delay } from 'node:timers/promises'
import { marked } from './judge/evidence.ts'
import { openSession } from './session.ts'
import type { FaultWorld } from './world.ts'

const DUE_IN_MS = 4_000
const AT_ONCE = 10
/** Ends the kills, because reconciliations of lost answers are minutes apart. */
const MOST_KILLS = 12

export interface ChurnReport {
  /** From the due time until the last post was published, milliseconds. */
  drainMs: number
  kills: number
  violations: string[]
}

/** So many posts due at one instant, while every few seconds one of the workers is killed, in turn; or in calm. */
export async function churn(world: FaultWorld, posts: number, killEveryMs: number | null): Promise<ChurnReport> {
  const session = await openSession(world, { users: 3 })
  const withImage = world.platforms.some(({ needsMedia }) => needsMedia)
  const dueAt = Date.now() + DUE_IN_MS + posts * 20
  for (let first = 0; first < posts; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, posts - first) }, (_, index) => {
        const number = first + index
        const text = marked(`churn-${number}`, 'one of many')
        const wish = { text, platforms: world.platforms.map(({ platform }) => platform), withImage, scheduledAt: dueAt }
        return session.users[number % session.users.length]!.via(number).create(wish)
      }),
    )
  }
  await delay(dueAt - Date.now())

  const resting = session.rest()
  let isOver = false
  void resting.finally(() => (isOver = true))
  const workers = world.parts('worker')
  let kills = 0
  while (killEveryMs !== null && !isOver && kills < MOST_KILLS) {
    const victim = workers[kills++ % workers.length]!
    await victim.kill()
    // It has to work again before the next one is killed, or no worker would be left.
    await Promise.all([victim.start(), Promise.race([delay(killEveryMs), resting])])
  }
  await resting

  const ends = (await session.posts()).flatMap(({ platformStatuses }) =>
    platformStatuses.map(({ completedAt }) => completedAt?.getTime() ?? Infinity),
  )
  return { drainMs: Math.max(...ends) - dueAt, kills, violations: await session.verdict() }
}
