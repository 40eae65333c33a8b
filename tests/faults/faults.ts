import type { LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import { afterAccept, insteadOf } from '../../sandbox/platforms/foreign-answers.ts'
import { isOne, type FaultPlatform } from './platforms.ts'
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
  /** Which of the platforms, and null for every one of them. */
  platform: number | null
}

interface FaultKind {
  weight: number
  lastsMs: [number, number]
  /** Makes it happen; what it returns takes it back when its time is over. */
  begin(place: Place, number: number): Promise<(() => Promise<unknown>) | void>
}

interface Place {
  world: FaultWorld
  session: Session
  /** Those that it is to meet. */
  platforms: FaultPlatform[]
}

/** The first calls there are, for as long as there are any. */
function onCalls(
  which: keyof FaultPlatform['calls'],
  action: FaultAction | ((platform: FaultPlatform) => FaultAction),
  weight = 2,
): FaultKind {
  return {
    weight,
    lastsMs: [0, 0],
    async begin({ platforms }, number) {
      for (const platform of platforms) {
        const calls = platform.calls[which]
        const wanted = typeof action === 'function' ? action(platform) : action
        if (calls) await platform.control.fault({ ...calls, times: number, action: wanted })
      }
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
    async begin({ world }, number) {
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
    async begin({ world }, number) {
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
  'a page after accept': onCalls('publish', afterAccept('a page with 200'), 1),
  'a 404 page after accept': onCalls('publish', afterAccept('a page with 404'), 1),
  'another JSON after accept': onCalls('publish', afterAccept('another JSON with 403'), 1),
  'a 404 page instead': onCalls('publish', insteadOf('a page with 404'), 1),
  'a 401 page instead': onCalls('publish', insteadOf('a page with 401'), 1),
  'an empty answer instead': onCalls('publish', insteadOf('an empty 200'), 1),
  'accept long after': onCalls('publish', { delayMs: 12_000 }, 1),
  'a page for a trace': onCalls('reconcile', insteadOf('a page with 404'), 1),
  'hold after accept': onCalls('publish', { holdAfterAccept: true }),
  'cut before accept': onCalls('publish', { cut: true }),
  hang: onCalls('publish', { hang: true }, 1),
  trickle: onCalls('publish', { trickleBytesPerSecond: 20 }, 1),
  'accept late': onCalls('publish', { delayMs: 4_000 }),
  refuse: onCalls('publish', ({ refusals }) => refusals.definite),
  'limit the rate': onCalls('publish', ({ refusals }) => refusals.limited),
  'refuse 503': onCalls('publish', { status: 503 }),
  'hide the trace': onCalls('reconcile', { status: 502 }, 1),
  'lose the trace': onCalls('reconcile', { cut: true }, 1),
  'expire tokens': {
    weight: 1,
    lastsMs: [0, 0],
    async begin({ platforms, session: { users } }, number) {
      for (const { platform, control, calls } of platforms) {
        const account = users[number % users.length]?.accounts.get(platform)
        if (account && calls.renew) await control.expire(account.accountId)
      }
    },
  },
  'kill worker after accept': {
    weight: 3,
    lastsMs: [500, 3_000],
    async begin({ world, platforms: [platform] }) {
      await killAfterAccept(world, platform!)
      return () => Promise.all(world.parts('worker').map((worker) => worker.start()))
    },
  },
} satisfies Record<string, FaultKind>

export type FaultName = keyof typeof FAULTS

const WEIGHTS = Object.fromEntries(Object.entries(FAULTS).map(([name, { weight }]) => [name, weight])) as Record<
  FaultName,
  number
>

/** How often a fault that is about a platform meets all of them. */
const EVERYWHERE = 0.3

interface PlanSize {
  count: number
  lengthMs: number
  platforms: number
}

export function planFaults(random: Random, { count, lengthMs, platforms }: PlanSize): FaultEvent[] {
  return Array.from({ length: count }, () => {
    const name = random.weighted(WEIGHTS)
    const [shortest, longest] = FAULTS[name].lastsMs
    return {
      name,
      atMs: random.between(500, lengthMs),
      lastsMs: random.between(shortest, longest),
      number: random.between(1, 4),
      platform: random.chance(EVERYWHERE) ? null : random.between(0, platforms - 1),
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

export function beginFault(event: FaultEvent, world: FaultWorld, session: Session) {
  const platforms = event.platform === null ? world.platforms : [world.platforms[event.platform]!]
  return FAULTS[event.name].begin({ world, session, platforms }, event.number)
}

/** Waits for a call that the platform accepts, keeps its answer, and kills every worker just then. */
export async function killAfterAccept(
  world: FaultWorld,
  { control, calls: { publish } }: FaultPlatform,
  withinMs = 5_000,
): Promise<boolean> {
  const before = (await control.requests()).length
  await control.fault({ ...publish, times: 1, action: { holdAfterAccept: true } })
  const accepted = await until(
    'a call that is accepted',
    () => control.requests(),
    (requests) => requests.slice(before).some((request) => isOne(publish, request) && isAccepted(request)),
    withinMs,
  ).catch(() => null)
  if (!accepted) return false
  await Promise.all(world.parts('worker').map((worker) => worker.kill()))
  return true
}

export const isAccepted = ({ status }: LoggedRequest): boolean => status !== null && status >= 200 && status < 300
