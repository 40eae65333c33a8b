import { Connection, ScheduleClient, WorkflowClient } from '@temporalio/client'
import { withDeadline } from '../../flow/deadlines.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** The longest wait for Temporal inside a request. After that the request continues, and the sweeper starts what is missing. */
export const CALL_DEADLINE_MS = SECOND

interface TemporalClientOptions {
  address: string
  namespace: string
  /** Called with the error when a call was not acknowledged. */
  onUnreachable?: (error: unknown) => void
}

/** Calls to Temporal with deadlines. Connects when first used and again after an outage. */
export function createTemporalClient({ address, namespace, onUnreachable = () => {} }: TemporalClientOptions) {
  const connection = Connection.lazy({ address, connectTimeout: CALL_DEADLINE_MS })

  /** Calls that are still running, including those with no waiting caller: the client repeats them until their deadline. */
  const openCalls = new Set<Promise<unknown>>()

  /** @throws when Temporal does not answer within the deadline */
  function bounded<T>(call: () => Promise<T>, deadlineMs = CALL_DEADLINE_MS): Promise<T> {
    const running = connection.withDeadline(Date.now() + deadlineMs, call)
    openCalls.add(running)
    running.finally(() => openCalls.delete(running)).catch(() => {})
    return withDeadline(running, deadlineMs, () => new Error(`no answer within ${deadlineMs} ms`))
  }

  return {
    connection,
    namespace,
    workflows: new WorkflowClient({ connection, namespace }),
    schedules: new ScheduleClient({ connection, namespace }),
    bounded,
    onUnreachable,

    /** Returns whether Temporal acknowledged the call within the deadline. Never throws. */
    async acknowledged(call: () => Promise<unknown>, deadlineMs?: number): Promise<boolean> {
      try {
        await bounded(call, deadlineMs)
        return true
      } catch (error) {
        onUnreachable(error)
        return false
      }
    },

    /** Waits for open calls, a few seconds: a repeat on a closed connection would end the process. */
    async close(): Promise<void> {
      await Promise.allSettled(openCalls)
      await connection.close()
    },
  }
}

export type TemporalClient = ReturnType<typeof createTemporalClient>
