import type { LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { FaultAction } from '../../sandbox/platforms/faults.ts'
import { afterAccept, insteadOf } from '../../sandbox/platforms/foreign-responses.ts'
import { matchesCall, type FaultPlatform } from './platforms.ts'
import type { Random } from './random.ts'
import type { Session } from './session.ts'
import { waitFor } from './wait-for.ts'
import type { FaultCluster } from './cluster.ts'

/** One occurrence of a named fault, from `atMs` after the start of the run for `lastsMs`. */
export interface FaultEvent {
  name: FaultName
  atMs: number
  lastsMs: number
  /** Selects one of several processes, or is the number of calls to affect. */
  number: number
  /** The index of the affected platform; null for all platforms. */
  platform: number | null
}

interface FaultKind {
  weight: number
  lastsMs: [number, number]
  /** Injects the fault. The returned function, if any, reverts it. */
  begin(target: FaultTarget, number: number): Promise<(() => Promise<unknown>) | void>
}

interface FaultTarget {
  cluster: FaultCluster
  session: Session
  /** The affected platforms. */
  platforms: FaultPlatform[]
}

/** Affects the next calls of a kind, on platforms that have this kind. */
function callFault(
  kind: keyof FaultPlatform['calls'],
  action: FaultAction | ((platform: FaultPlatform) => FaultAction),
  weight = 2,
): FaultKind {
  return {
    weight,
    lastsMs: [0, 0],
    async begin({ platforms }, number) {
      for (const platform of platforms) {
        const calls = platform.calls[kind]
        const resolved = typeof action === 'function' ? action(platform) : action
        if (calls) await platform.control.fault({ ...calls, times: number, action: resolved })
      }
    },
  }
}

/** Kills or stops a process and starts it again later. */
function processFault(
  kind: 'api' | 'worker' | 'mongod' | 'temporal',
  how: 'kill' | 'stop',
  lastsMs: [number, number],
): FaultKind {
  return {
    weight: 3,
    lastsMs,
    async begin({ cluster }, number) {
      const process = pickProcess(cluster, kind, number)
      await process[how]()
      return () => process.start()
    },
  }
}

/** Freezes a process and thaws it later. */
function freezeFault(kind: 'api' | 'worker' | 'mongod' | 'temporal', lastsMs: [number, number]): FaultKind {
  return {
    weight: 2,
    lastsMs,
    async begin({ cluster }, number) {
      const process = pickProcess(cluster, kind, number)
      process.freeze()
      return async () => process.thaw()
    },
  }
}

function pickProcess(cluster: FaultCluster, kind: string, number: number) {
  if (kind !== 'api' && kind !== 'worker') return cluster.process(kind)
  const processes = cluster.processes(kind)
  return processes[number % processes.length]!
}

/** The faults of a run, by name. */
const FAULTS = {
  'kill worker': processFault('worker', 'kill', [500, 4_000]),
  'stop worker': processFault('worker', 'stop', [500, 3_000]),
  // Longer than its lease, so that another worker takes over.
  'freeze worker': freezeFault('worker', [6_000, 8_000]),
  'kill API': processFault('api', 'kill', [300, 3_000]),
  'freeze API': freezeFault('api', [500, 3_000]),
  'kill Temporal': processFault('temporal', 'kill', [500, 5_000]),
  'freeze Temporal': freezeFault('temporal', [500, 4_000]),
  'kill MongoDB': processFault('mongod', 'kill', [300, 4_000]),
  'stop MongoDB': processFault('mongod', 'stop', [300, 3_000]),
  'freeze MongoDB': freezeFault('mongod', [500, 4_000]),
  'drop after accept': callFault('publish', { dropAfterAccept: true }),
  'truncate the response': callFault('publish', { truncate: true }),
  '500 after accept': callFault('publish', { statusAfterAccept: 500, body: { error: 'InternalServerError' } }),
  '200 page after accept': callFault('publish', afterAccept('a page with 200'), 1),
  '404 page after accept': callFault('publish', afterAccept('a page with 404'), 1),
  'foreign JSON after accept': callFault('publish', afterAccept('another JSON with 403'), 1),
  '404 page instead': callFault('publish', insteadOf('a page with 404'), 1),
  '401 page instead': callFault('publish', insteadOf('a page with 401'), 1),
  'empty response instead': callFault('publish', insteadOf('an empty 200'), 1),
  'accept 12 s late': callFault('publish', { delayMs: 12_000 }, 1),
  '404 page for a reconcile': callFault('reconcile', insteadOf('a page with 404'), 1),
  'hold after accept': callFault('publish', { holdAfterAccept: true }),
  'drop before accept': callFault('publish', { cut: true }),
  hang: callFault('publish', { hang: true }, 1),
  trickle: callFault('publish', { trickleBytesPerSecond: 20 }, 1),
  'accept 4 s late': callFault('publish', { delayMs: 4_000 }),
  refuse: callFault('publish', ({ refusals }) => refusals.definite),
  'rate limit': callFault('publish', ({ refusals }) => refusals.limited),
  'refuse with 503': callFault('publish', { status: 503 }),
  '502 for a reconcile': callFault('reconcile', { status: 502 }, 1),
  'drop a reconcile': callFault('reconcile', { cut: true }, 1),
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
    async begin({ cluster, platforms: [platform] }) {
      await (
        await killAfterAccept(cluster, platform!)
      ).killed
      return () => Promise.all(cluster.processes('worker').map((worker) => worker.start()))
    },
  },
} satisfies Record<string, FaultKind>

export type FaultName = keyof typeof FAULTS

const WEIGHTS = Object.fromEntries(Object.entries(FAULTS).map(([name, { weight }]) => [name, weight])) as Record<
  FaultName,
  number
>

/** The probability that a fault affects all platforms. */
const ALL_PLATFORMS_PROBABILITY = 0.3

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
      platform: random.chance(ALL_PLATFORMS_PROBABILITY) ? null : random.between(0, platforms - 1),
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

export function beginFault(event: FaultEvent, cluster: FaultCluster, session: Session) {
  const platforms = event.platform === null ? cluster.platforms : [cluster.platforms[event.platform]!]
  return FAULTS[event.name].begin({ cluster, session, platforms }, event.number)
}

/**
 * Holds the response to the next visible call, and returns once the platform will do so. Then kills every worker when the platform has
 * accepted the call: `killed` is false when it accepted none within the time.
 */
export async function killAfterAccept(
  cluster: FaultCluster,
  { control, calls: { publish } }: FaultPlatform,
  withinMs = 5_000,
): Promise<{ killed: Promise<boolean> }> {
  const before = (await control.requests()).length
  await control.fault({ ...publish, times: 1, action: { holdAfterAccept: true } })
  const kill = async () => {
    const accepted = await waitFor(
      'an accepted call',
      () => control.requests(),
      (requests) => requests.slice(before).some((request) => matchesCall(publish, request) && isAccepted(request)),
      withinMs,
    ).catch(() => null)
    if (!accepted) return false
    await Promise.all(cluster.processes('worker').map((worker) => worker.kill()))
    return true
  }
  return { killed: kill() }
}

export const isAccepted = ({ status }: LoggedRequest): boolean => status !== null && status >= 200 && status < 300
