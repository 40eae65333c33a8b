import { beforeAll, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { runHistory, START, type History } from './history.ts'
import { loadService, type Source } from './service.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DOWN_AT = 20 * SECOND
/** Two processes probe with a read or two, each up to once a minute, and more often in the first one. */
const MOST_CALLS_A_MINUTE = 4
const CALLS_AT_FIRST = 80
const NEIGHBOURS = 6
const CLAIMED_AT_FIRST = 10

let source: Source
beforeAll(async () => void (source = await loadService(PROJECT_ROOT)))

/** Plans posts to one platform over 40 s. After half of them it is down in this way. */
function planOutage(platform: 'bluesky' | 'mastodon', kind: number, lastsMs: number, posts: number): History {
  return {
    seed: kind + 1,
    odds: { call: 0, command: 0, slow: 0 },
    honoursKeys: true,
    posts: Array.from({ length: posts }, (_, number) => ({
      platforms: [platform],
      createdAt: (number * 2 * DOWN_AT) / posts,
      scheduledIn: number % 2 === 0 ? null : 12 * SECOND,
      segments: 0,
      hasComment: false,
      changes: [],
    })),
    mishaps: [
      { kind: 'platform is down', which: ['bluesky', 'mastodon'].indexOf(platform) + 5 * kind, at: DOWN_AT, lastsMs },
    ],
    // The processes of the outage meet its end.
    faultsEndMs: DOWN_AT + lastsMs + 10 * MINUTE,
  }
}

it.each([
  ['30 minutes of refused connections', 'bluesky', 0, 30, 120],
  ['30 minutes of a 502', 'mastodon', 1, 30, 120],
  ['30 minutes of a 503', 'bluesky', 2, 30, 120],
  ['300 minutes of refused connections', 'mastodon', 0, 300, 20],
  ['300 minutes of a 502', 'bluesky', 1, 300, 20],
] as const)('%s fail and double no post, and all follow in due order', async (_, platform, kind, minutes, count) => {
  const history = planOutage(platform, kind, minutes * MINUTE, count)
  const { violations, evidence, callsWhileDown, trace } = await runHistory(source, history)
  expect(violations, trace.join('\n')).toEqual([])
  const backAt = START + DOWN_AT + minutes * MINUTE
  const posts = evidence.posts.map(({ status, dueAt, platformStatuses: [entry] }) => ({
    status,
    dueAt: dueAt!.getTime(),
    completedAt: entry!.completedAt!.getTime(),
    claims: entry!.delivery.attempt,
  }))
  expect(posts.every(({ status }) => status === 'COMPLETED')).toBe(true)
  const late = posts.filter(({ completedAt }) => completedAt >= backAt).toSorted((a, b) => a.dueAt - b.dueAt)
  expect(late.length).toBeGreaterThan(count / 2)
  const order = late.toSorted((a, b) => a.completedAt - b.completedAt)
  expect(order[0]!.completedAt - backAt).toBeLessThan(2 * MINUTE)
  expect(order.at(-1)!.completedAt - order[0]!.completedAt).toBeLessThan(10 * SECOND)
  // Neighbours overtake each other in the network; in a random order each would be a third of all places away.
  const displaced = late.reduce((sum, post, place) => sum + Math.abs(order.indexOf(post) - place), 0) / late.length
  expect(displaced).toBeLessThan(Math.max(late.length / 5, NEIGHBOURS))
  expect(callsWhileDown).toBeLessThan(CALLS_AT_FIRST + minutes * MOST_CALLS_A_MINUTE)
  // Users can still cancel a post that was never claimed. A few are claimed before the outage is known, however many follow.
  expect(late.filter(({ claims }) => claims > 1).length).toBeLessThan(Math.max(late.length / 2, CLAIMED_AT_FIRST))
})
