import { setTimeout as delay } from 'node:timers/promises'
import { marked } from './judge/evidence.ts'
import { openSession } from './session.ts'
import type { FaultCluster } from './cluster.ts'

const DUE_IN_MS = 4_000
const CONCURRENT_CREATES = 10
/** Ends the kills, because the reconciliations of a lost response are minutes apart. */
const MAX_KILLS = 12

export interface ChurnReport {
  /** From the due time until the last post was published, milliseconds. */
  drainMs: number
  kills: number
  violations: string[]
}

/** Creates posts that are due together and kills the workers in turn until all are published. A null interval kills none. */
export async function churn(cluster: FaultCluster, posts: number, killEveryMs: number | null): Promise<ChurnReport> {
  const session = await openSession(cluster, { users: 3 })
  const withImage = cluster.platforms.some(({ needsMedia }) => needsMedia)
  const dueAt = Date.now() + DUE_IN_MS + posts * 20
  for (let first = 0; first < posts; first += CONCURRENT_CREATES) {
    await Promise.all(
      Array.from({ length: Math.min(CONCURRENT_CREATES, posts - first) }, (_, index) => {
        const number = first + index
        const text = marked(`churn-${number}`, 'one of many')
        const input = {
          text,
          platforms: cluster.platforms.map(({ platform }) => platform),
          withImage,
          scheduledAt: dueAt,
        }
        return session.users[number % session.users.length]!.clientFor(number).create(input)
      }),
    )
  }
  await delay(dueAt - Date.now())

  const idle = session.waitUntilIdle()
  let isIdle = false
  void idle.finally(() => (isIdle = true))
  const workers = cluster.processes('worker')
  let kills = 0
  while (killEveryMs !== null && !isIdle && kills < MAX_KILLS) {
    const victim = workers[kills++ % workers.length]!
    await victim.kill()
    // The killed worker must run again before the next kill, or no worker would be left.
    await Promise.all([victim.start(), Promise.race([delay(killEveryMs), idle])])
  }
  await idle

  const completionTimes = (await session.readPosts()).flatMap(({ platformStatuses }) =>
    platformStatuses.map(({ completedAt }) => completedAt?.getTime() ?? Infinity),
  )
  return { drainMs: Math.max(...completionTimes) - dueAt, kills, violations: await session.verdict() }
}
