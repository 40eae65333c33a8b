import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import type { FaultPlatform } from './platforms.ts'
import type { Random } from './random.ts'
import type { Session } from './session.ts'
import { until } from './waiting.ts'
import type { FaultWorld } from './world.ts'

/** One named thing that goes wrong, from `atMs` on for `lastsMs`. */
export interface FaultEvent {
  name: FaultName
  atMs: number
  lastsMs: number
  /** Which of several processes; how many calls. */
  number: number
}

interface FaultKind {
  weight: number
  lastsMs: [number, number]
  /** Makes it happen; what it returns takes it back when its time is over. */
  begin(world: FaultWorld, number: number, session: Session): Promise<(() => Promise<unknown>) | void>
}

/** A call may be met on every platform; the first one there is, for as long as there is one. */
function onCalls(which: keyof FaultPlatform['paths'], action: FaultAction, weight = 2): FaultKind {
  return {
    weight,
    lastsMs: [0, 0],
    async begin({ platforms }, number) {
      for (const { control, paths } of platforms) await control.fault({ path: paths[which], times: number, action })
    },
  }
}

function away(
  kind: 'api' | 'worker' | 'mongod' | 'temporal',
  how: 'kill' | 'stop',
  lastsMs: [number, number],
): FaultKind {
  return {
    weight: 3,
    lastsMs,
    async begin(world, number) {
      const part = choose(world, kind, number)
      await part[how]()
      return () => part.start()
    },
  }
}

function frozen(kind: 'api' | 'worker' | 'mongod' | 'temporal', lastsMs: [number, number]): FaultKind {
  return {
    weight: 2,
    lastsMs,
    async begin(world, number) {
      const part = choose(world, kind, number)
      part.freeze()
      return async () => part.thaw()
    },
  }
}

function choose(world: FaultWorld, kind: string, number: number) {
  if (kind !== 'api' && kind !== 'worker') return world.part(kind)
  const parts = world.parts(kind)
  return parts[number % parts.length]!
}

/** Everything that goes wrong in a run, by name. */
const FAULTS = {
  'kill worker': away('worker', 'kill', [500, 4_000]),
  'stop worker': away('worker', 'stop', [500, 3_000]),
  // Past its lease: another worker takes over meanwhile.
  'freeze worker': frozen('worker', [6_000, 8_000]),
  'kill API': away('api', 'kill', [300, 3_000]),
  'freeze API': frozen('api', [500, 3_000]),
  'kill Temporal': away('temporal', 'kill', [500, 5_000]),
  'freeze Temporal': frozen('temporal', [500, 4_000]),
  'kill MongoDB': away('mongod', 'kill', [300, 4_000]),
  'stop MongoDB': away('mongod', 'stop', [300, 3_000]),
  'freeze MongoDB': frozen('mongod', [500, 4_000]),
  'drop after accept': onCalls('publish', { dropAfterAccept: true }),
  'truncate the answer': onCalls('publish', { truncate: true }),
  '500 after accept': onCalls('publish', { statusAfterAccept: 500, body: { error: 'InternalServerError' } }),
  'hold after accept': onCalls('publish', { holdAfterAccept: true }),
  'cut before accept': onCalls('publish', { cut: true }),
  hang: onCalls('publish', { hang: true }, 1),
  trickle: onCalls('publish', { trickleBytesPerSecond: 20 }, 1),
  'accept late': onCalls('publish', { delayMs: 4_000 }),
  'refuse 400': onCalls('publish', { status: 400, body: { error: 'InvalidRequest', message: 'no' } }),
  'refuse 429': onCalls('publish', {
    status: 429,
    headers: { 'retry-after': '2' },
    body: { error: 'RateLimitExceeded' },
  }),
  'refuse 503': onCalls('publish', { status: 503 }),
  'hide the trace': onCalls('reconcile', { status: 502 }, 1),
  'lose the trace': onCalls('reconcile', { cut: true }, 1),
  'expire tokens': {
    weight: 1,
    lastsMs: [0, 0],
    async begin({ platforms }, number, { users }) {
      for (const { platform, control } of platforms) {
        const account = users[number % users.length]?.accounts.get(platform)
        if (account) await control.expire(account.accountId)
      }
    },
  },
  'kill worker after accept': {
    weight: 3,
    lastsMs: [500, 3_000],
    async begin(world) {
      await killAfterAccept(world)
      return () => Promise.all(world.parts('worker').map((worker) => worker.start()))
    },
  },
} satisfies Record<string, FaultKind>

export type FaultName = keyof typeof FAULTS

const WEIGHTS = Object.fromEntries(Object.entries(FAULTS).map(([name, { weight }]) => [name, weight])) as Record<
  FaultName,
  number
>

export function planFaults(random: Random, { count, lengthMs }: { count: number; lengthMs: number }): FaultEvent[] {
  return Array.from({ length: count }, () => {
    const name = random.weighted(WEIGHTS)
    const [shortest, longest] = FAULTS[name].lastsMs
    return {
      name,
      atMs: random.between(500, lengthMs),
      lastsMs: random.between(shortest, longest),
      number: random.between(1, 4),
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

export const beginFault = (event: FaultEvent, world: FaultWorld, session: Session) =>
  FAULTS[event.name].begin(world, event.number, session)

/** Waits for a call that the platform accepts, keeps its answer, and kills every worker just then. */
export async function killAfterAccept(world: FaultWorld, withinMs = 5_000): Promise<boolean> {
  const { control, paths } = world.platforms[0]!
  const before = (await control.requests()).length
  await control.fault({ path: paths.publish, times: 1, action: { holdAfterAccept: true } })
  const accepted = await until(
    'a call that is accepted',
    () => control.requests(),
    (requests) => requests.slice(before).some(({ path, status }) => path.includes(paths.publish) && status === 200),
    withinMs,
  ).catch(() => null)
  if (!accepted) return false
  await Promise.all(world.parts('worker').map((worker) => worker.kill()))
  return true
}
