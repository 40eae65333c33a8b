import { activityInfo, cancellationSignal } from '@temporalio/activity'
import type { Lane } from '../../domain/analytics/collection.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import type { Context } from '../../context.ts'
import { addCollected, NOTHING_COLLECTED, type CollectorTurn } from '../../workflows/contract/analytics.ts'
import { allSettledOrThrow } from '../shared/all-settled.ts'
import type { CollectedBatch } from './collect-posts.ts'

/** A turn claims nothing after this time, so that workers that started meanwhile get the next turns. */
const TURN_MS = 5 * MINUTE
/** No call for a claim starts after this time. Its lease ends when the last one has ended. */
const CLAIM_MS = 30 * SECOND
/** Accounts of one server that a worker reads concurrently, per call in flight. Some store what they have read. */
const ACCOUNTS_PER_CALL = 2
/** Servers whose accounts a worker reads concurrently. */
const MAX_LANES = 100
/** A run that waits for servers makes the next turn when it is this much older, which bounds the number of turns. */
const GROWTH = 0.1

/** Records of one kind that are due, such as published posts. */
export interface DueRecords<Claim> {
  isSupported(adapter: PlatformAdapter): boolean
  /** Returns a server with due records, besides these; null for a platform that is a single server, undefined for none. */
  findServer(platform: Platform, except: (string | null)[]): Promise<string | null | undefined>
  /**
   * Claims what is due in a lane, one account after the other.
   * @param lease returns when a lease that begins now ends
   * @returns in the end, whether an account has more, which the others come before
   */
  claim(lane: Lane, lease: () => Date): AsyncIterator<Claim, boolean>
  /** Makes no call after `isOver` has become true. */
  collect(claim: Claim, options: { signal: AbortSignal; isOver: () => boolean }): Promise<CollectedBatch>
}

/**
 * Collects what is due, in a lane per server, so that no server waits for another.
 * @param runMs a run ends this long after its start. What it leaves stays due
 */
export function createCollector<Claim>(
  { platforms, clock, draining, collection }: Context,
  due: DueRecords<Claim>,
  runMs: number,
) {
  const leaseMs = CLAIM_MS + collection.timeoutMs
  const getTime = () => clock.now().getTime()
  /** When each lane's pause ends. */
  const pauses = new Map<string, number>()
  /** The collectors of a process share its lanes: each would pass the index of all owners. A lane returns when it goes on. */
  const lanes = new Map<string, Promise<number>>()

  function listPlatforms(): Platform[] {
    return PLATFORMS.filter((platform) => {
      const adapter = platforms.find(platform)
      return adapter && due.isSupported(adapter)
    })
  }

  /** Makes one turn of a collector in the run that started at `startedAt`. */
  return async function collectTurn(startedAt: number): Promise<CollectorTurn> {
    const signal = cancellationSignal()
    const turnStartedAt = getTime()
    const endsAt = startedAt + runMs
    const turnEndsAt = Math.min(turnStartedAt + TURN_MS, endsAt)
    const isTurnOver = () => getTime() >= turnEndsAt || draining.aborted
    const totals = { ...NOTHING_COLLECTED }
    for (const [name, pauseEndsAt] of pauses) if (pauseEndsAt <= turnStartedAt) pauses.delete(name)

    const joined = new Set<Promise<number>>()
    for (const platform of listPlatforms()) {
      for (const known: (string | null)[] = []; !isTurnOver();) {
        signal.throwIfAborted()
        const server = await due.findServer(platform, known)
        if (server === undefined) break
        known.push(server)
        joined.add(joinLane({ platform, server }))
        while (lanes.size >= MAX_LANES) await Promise.race(lanes.values()).catch(() => {})
      }
    }
    const resumeTimes = await allSettledOrThrow([...joined])
    // A killed collector has left leases.
    if (activityInfo().attempt > 1) resumeTimes.push(postpone(turnStartedAt + leaseMs))
    if (isTurnOver()) resumeTimes.push(getTime())
    const resumeAt = Math.min(...resumeTimes)
    return { ...totals, resumeAt: resumeAt < endsAt ? resumeAt : null }

    function joinLane(lane: Lane): Promise<number> {
      const name = `${lane.platform} ${lane.server ?? ''}`
      const running = lanes.get(name) ?? collectLane(lane, name).finally(() => lanes.delete(name))
      lanes.set(name, running)
      // Collectors that have joined wait for it at the end of their turns.
      running.catch(() => {})
      return running
    }

    /**
     * Goes around all owners while one has more. If that collects nothing, another worker has claimed what is due.
     * @returns when the lane goes on; infinity for no more
     */
    async function collectLane(lane: Lane, name: string): Promise<number> {
      const pauseEndsAt = () => pauses.get(name) ?? 0
      const isPaused = () => pauseEndsAt() > getTime()
      let leftUntil = Infinity
      for (let hasMore = true; hasMore && !isTurnOver() && !isPaused();) {
        let collected = 0
        hasMore = false
        const claims = due.claim(lane, () => new Date(getTime() + leaseMs))
        const collectNext = async (): Promise<boolean> => {
          if (isTurnOver() || isPaused()) return false
          const { value: claim, done: isEnd } = await claims.next()
          if (isEnd) {
            if (claim) hasMore = true
            return false
          }
          const claimEndsAt = getTime() + CLAIM_MS
          const isOver = () => isTurnOver() || getTime() >= claimEndsAt
          const { end, pauseMs, ...done } = await due.collect(claim, { signal, isOver })
          addCollected(totals, done)
          collected += done.saved + done.deleted + done.failed
          if (pauseMs !== undefined) pauses.set(name, Math.max(pauseEndsAt(), getTime() + pauseMs))
          else if (end === 'left') leftUntil = getTime() + leaseMs
          return true
        }
        const width = ACCOUNTS_PER_CALL * collection.callsInFlight
        await allSettledOrThrow(
          Array.from({ length: width }, async () => {
            while (await collectNext());
          }),
        )
        hasMore &&= collected > 0
      }
      if (isTurnOver()) return getTime()
      // A pause that has ended meanwhile has left posts as well.
      return postpone(pauses.get(name) ?? leftUntil)
    }

    /** Makes a run that waits for servers resume less often with its age. */
    function postpone(at: number): number {
      const now = getTime()
      return Math.max(at, now + leaseMs, now + GROWTH * (now - startedAt))
    }
  }
}
