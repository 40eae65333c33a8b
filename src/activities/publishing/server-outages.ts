import { raceAbort } from '../../flow/deadlines.ts'
import type { Admission, HeldServer } from '../../flow/outage-gate.ts'
import type { Outage } from '../../domain/posts/outages.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { ServerHeld, toCallFailure, type CallLimiter } from '../shared/call-limiter.ts'
import type { DeliveryTarget } from './attempt.ts'
import type { Context } from '../../context.ts'

const PROBE_DEADLINE_MS = 10 * SECOND
const MAX_SERVERS = 1_000

interface ServerOutagesDeps extends Context {
  callLimiter: CallLimiter
}

/** Lets deliveries call their server, apart from one that cannot be reached: then one of them probes it, and the others wait. */
export function createServerOutages({ callLimiter, callWindows, clock, metrics }: ServerOutagesDeps) {
  const now = () => clock.now().getTime()

  /** Returns whether a server has worked since an instant, as far as any process knows. False in an outage of MongoDB. */
  async function hasReturned(server: string, since: number): Promise<boolean> {
    const returnedAt = await callWindows.readReturn(server).catch(() => null)
    return returnedAt !== null && returnedAt.getTime() > since
  }

  /** @throws ServerHeld, and the error of a probe that failed */
  async function admit(
    { input: { platform }, activity }: DeliveryTarget,
    adapter: PlatformAdapter,
    account: Credentials,
    isRead: boolean,
  ): Promise<void> {
    if (activity.isAdmitted) return
    const { serviceUrl = '', accountId } = account
    const gate = callLimiter.findGate(platform, serviceUrl)
    const admission: Admission = gate.enter(accountId, now(), isRead)
    if (admission === 'open') return
    if (admission !== 'probe') {
      if (await hasReturned(admission.server, admission.failedAt)) return gate.succeed(accountId)
      metrics.callRejected(platform, 'failing')
      throw new ServerHeld(admission)
    }
    // The search for a published post is a probe itself. A visible call would leave another outcome unknown.
    if (isRead) return
    const { signal } = activity
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(PROBE_DEADLINE_MS)])
      await raceAbort(adapter.profile(account, { signal: deadline }), deadline)
    } catch (error) {
      signal.throwIfAborted()
      if (isUnreachable(error)) {
        gate.fail(accountId, now(), { ...toCallFailure(error), isRead: true })
        throw error
      }
    }
    gate.answerRead(accountId, now())
    activity.isAdmitted = true
  }

  return {
    /**
     * Makes an invisible call of a delivery, unless its server cannot be reached.
     * @param isRead whether the call is a mere search; absent a preparation, which may make no call at all
     * @throws ServerHeld before the call
     */
    async call<T>(
      target: DeliveryTarget,
      adapter: PlatformAdapter,
      account: Credentials,
      work: () => Promise<T>,
      isRead = false,
    ): Promise<T> {
      await admit(target, adapter, account, isRead)
      const { serviceUrl = '', accountId } = account
      const gate = callLimiter.findGate(target.input.platform, serviceUrl)
      try {
        const result = await work()
        // A post that is found was accepted.
        if (isRead && typeof result === 'object') gate.succeed(accountId)
        else if (isRead) gate.answerRead(accountId, now())
        return result
      } catch (error) {
        if (isUnreachable(error) && isOwnServer(serviceUrl, error.unreachable)) {
          gate.fail(accountId, now(), { ...toCallFailure(error), isRead })
        }
        throw error
      }
    },

    /** Returns whether the wait of a delivery has ended early. */
    isOver: async (outage: Outage | null | undefined): Promise<boolean> =>
      !!outage && (await hasReturned(outage.server, outage.at.getTime())),
  }
}

export type ServerOutages = ReturnType<typeof createServerOutages>

/** A failure of another server, such as one for videos, holds nothing but its own delivery. */
function isOwnServer(serviceUrl: string, unreachable: string): boolean {
  return serviceUrl === '' || new URL(serviceUrl).origin === unreachable
}

function isUnreachable(error: unknown): error is PlatformError & { unreachable: string } {
  return error instanceof PlatformError && error.unreachable !== null
}

/**
 * Creates a function that ends the waits for a server that has returned: for all processes, and the next due first. Deliveries that a crash
 * leaves out continue with their next probe.
 */
export function createWakeDeliveries({ callWindows, posts, orchestrator, clock, logger }: Context) {
  /** The last known return of each server, milliseconds since the epoch. */
  const returns = new Map<string, number>()

  return async function wakeDeliveries({ server, failedAt }: HeldServer): Promise<void> {
    if ((returns.get(server) ?? 0) > failedAt) return
    try {
      const now = clock.now()
      if (returns.size >= MAX_SERVERS) returns.clear()
      returns.set(server, now.getTime())
      if (!(await callWindows.saveReturn(server, new Date(failedAt), now))) return
      let woken = 0
      for await (const post of posts.streamHeld(server, now)) {
        // One after the other, so that they arrive in this order.
        if (await orchestrator.signal(post, 'changed')) woken += 1
      }
      logger.info({ server, woken }, 'server returned')
    } catch (error) {
      logger.warn({ server, error }, 'waking of deliveries failed')
    }
  }
}

export type WakeDeliveries = ReturnType<typeof createWakeDeliveries>
