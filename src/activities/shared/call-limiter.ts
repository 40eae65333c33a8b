import { createAdaptiveLimit, type CallResult } from '../../flow/adaptive-limit.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { createOutageGate, type CallFailure, type HeldServer, type OutageGate } from '../../flow/outage-gate.ts'
import { toProbeWaitMs } from '../../domain/posts/outages.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** The number of deliveries that one worker arms by default, so that a burst of them is sent and not rejected. */
const MAX_QUEUED_CALLS = 6_000

/** Thrown before a call is made. */
export class CapacityExceeded extends Error {
  readonly reason: 'full' | 'failing'
  constructor(reason: CapacityExceeded['reason'], message = 'too many calls are waiting', options?: ErrorOptions) {
    super(message, options)
    this.name = 'CapacityExceeded'
    this.reason = reason
  }
}

/** Thrown before a call is made, while its server cannot be reached. */
export class ServerHeld extends CapacityExceeded {
  readonly server: string
  readonly waitMs: number
  constructor({ server, waitMs }: { server: string; waitMs: number }) {
    super('failing', 'The platform cannot be reached at the moment')
    this.name = 'ServerHeld'
    this.server = server
    this.waitMs = waitMs
  }
}

/** What the result of a call reveals about the server. */
export interface CallFindings extends CallResult {
  /** Null for a success. */
  failure: Omit<CallFailure, 'isRead'> | null
}

/**
 * Limits the concurrent calls to one server, takes turns between users, and holds calls while the server keeps failing. Calls of an
 * account that keeps failing are held alone.
 * @param judge reads the result of a call
 */
export function createServerLimiter<T>(
  limits: CallLimits,
  judge: (result: T) => CallFindings,
  { now = () => performance.now(), onReturn }: GateOptions = {},
) {
  const adaptive = createAdaptiveLimit(limits)
  const limit = createFairLimit({ maxRunning: adaptive.current, waiting: MAX_QUEUED_CALLS })
  const gate = createOutageGate((elapsedMs) => toProbeWaitMs(elapsedMs, Math.random()), onReturn)
  /** Another 429 for the same account is its own limit, such as posts per day. */
  let lastThrottled: string | undefined

  async function callServer<R extends T>(accountId: string, call: () => Promise<R>): Promise<R> {
    const running = adaptive.begin(performance.now())
    let findings: CallFindings | undefined
    try {
      const result = await call()
      findings = judge(result)
      return result
    } finally {
      // A call that throws did not reach the server.
      const { failure = null, isThrottled = false, latencyMs = null } = findings ?? {}
      if (!findings) gate.giveBack(accountId, now())
      else if (failure) gate.fail(accountId, now(), { ...failure, isRead: false })
      else gate.succeed(accountId)
      const isFirst = isThrottled && accountId !== lastThrottled
      if (isFirst) lastThrottled = accountId
      adaptive.end(running, { latencyMs, isThrottled: isFirst }, performance.now())
    }
  }

  function enter(accountId: string): void {
    const admission = gate.enter(accountId, now())
    if (typeof admission === 'object') throw new ServerHeld(admission)
  }

  return {
    gate,
    /**
     * @param caller.weight the calls that the user makes per turn, 1 by default
     * @param caller.isAdmitted set when the gate has let this call pass already
     * @throws CapacityExceeded before `call` runs, and what `call` throws
     */
    async run<R extends T>(caller: Caller, call: () => Promise<R>): Promise<R> {
      const { userId, accountId, weight = 1, isAdmitted = false } = caller
      try {
        return await limit(
          userId,
          () => {
            if (!isAdmitted) enter(accountId)
            return callServer(accountId, call)
          },
          { weight },
        )
      } catch (error) {
        if (error instanceof QueueFull) throw new CapacityExceeded('full', undefined, { cause: error })
        throw error
      }
    },
  }
}

interface GateOptions {
  /** The clock of the gate, milliseconds. */
  now?: () => number
  onReturn?: (held: HeldServer) => void
}

/** The user and the account of a call. */
export interface Caller {
  userId: string
  accountId: string
  weight?: number
  isAdmitted?: boolean
}

/** The numbers of concurrent calls to one server: at first, and at most. */
interface CallLimits {
  start: number
  most: number
}

/** The part of a call's result that the limiter reads. */
type PlatformCall = object & {
  error?: unknown
  /** Set where the latency shows how busy the server is, milliseconds. */
  latencyMs?: number
}

interface Destination extends Caller {
  platform: Platform
  /** Empty for a platform that is a single server. */
  server: string
}

/**
 * Holds one server limiter for each platform server. A hanging platform delays no other platform, and a user with many posts delays
 * other users by the calls of one turn.
 */
export function createCallLimiter(
  limits: CallLimits,
  metrics: Pick<Metrics, 'callDequeued' | 'callRejected'>,
  options: GateOptions = {},
) {
  const limiters = new Map<string, ReturnType<typeof createServerLimiter<PlatformCall>>>()

  function findLimiter(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const judge = (result: PlatformCall) => judgePlatformCall(result, name)
    const limiter = limiters.get(name) ?? createServerLimiter(limits, judge, options)
    limiters.set(name, limiter)
    return limiter
  }

  return {
    findGate: (platform: Platform, server: string): OutageGate => findLimiter(platform, server).gate,

    /**
     * Makes `call` when the server has capacity.
     * @throws CapacityExceeded before `call` runs, and what `call` throws
     */
    async run<T extends PlatformCall>(destination: Destination, call: () => Promise<T>): Promise<T> {
      const { platform, server, ...caller } = destination
      const queuedAt = performance.now()
      try {
        return await findLimiter(platform, server).run(caller, () => {
          metrics.callDequeued(platform, performance.now() - queuedAt)
          return call()
        })
      } catch (error) {
        if (error instanceof CapacityExceeded) metrics.callRejected(platform, error.reason)
        throw error
      }
    },
  }
}

export type CallLimiter = ReturnType<typeof createCallLimiter>

function judgePlatformCall({ error, latencyMs }: PlatformCall, name: string): CallFindings {
  const failed = error instanceof PlatformError ? error : null
  return {
    latencyMs: latencyMs ?? null,
    failure: failed?.class === 'transient' ? toCallFailure(failed, name) : null,
    isThrottled: failed?.class === 'rate_limited',
  }
}

/** @param name the server's name, where the server itself answered with the error */
export function toCallFailure({ unreachable, certain }: PlatformError, name = ''): Omit<CallFailure, 'isRead'> {
  const isAnswered = unreachable === null
  return { server: unreachable ?? name, isUnsent: !isAnswered && certain, isAnswered }
}
