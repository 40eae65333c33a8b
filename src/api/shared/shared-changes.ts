import type { Context } from '../../context.ts'
import { withDeadline } from '../../flow/deadlines.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { ChangeFeed, RecordChange } from '../../store/shared/change-stream.ts'

interface ChangeListener {
  onChange(change: RecordChange): void
  /** Called when changes were missed. */
  onGap(): void
}

export interface ChangeHold {
  /**
   * Resolves when every later change will be reported.
   * @throws ServiceError SERVICE_UNAVAILABLE
   */
  opened(): Promise<void>
  release(): void
}

/** How long the change stream stays open without listeners. Opening a stream costs the database more than an idle one. */
const IDLE_MS = MINUTE
const OPEN_TIMEOUT_MS = 5 * SECOND

/** Shares one database change stream among the live connections of this process. Without listeners it is closed. */
export function createSharedChanges({ changes, logger }: Context) {
  const listeners = new Set<ChangeListener>()
  let feed: ChangeFeed | null = null
  let idleTimer: NodeJS.Timeout | undefined

  function open(): ChangeFeed {
    clearTimeout(idleTimer)
    feed ??= changes.follow({
      onChange: (change) => listeners.forEach((listener) => listener.onChange(change)),
      onGap: () => listeners.forEach((listener) => listener.onGap()),
      onInterrupted: (error) => logger.warn({ err: error }, 'database change stream interrupted'),
    })
    return feed
  }

  function close(): void {
    clearTimeout(idleTimer)
    feed?.close()
    feed = null
  }

  return {
    /** Reports changes to a listener until it is released. */
    hold(listener: ChangeListener): ChangeHold {
      listeners.add(listener)
      open()
      return {
        opened: () => withDeadline(open().opened(), OPEN_TIMEOUT_MS, createUnavailableError),
        release() {
          listeners.delete(listener)
          if (listeners.size > 0 || feed === null) return
          clearTimeout(idleTimer)
          idleTimer = setTimeout(close, IDLE_MS).unref()
        },
      }
    },

    close,
  }
}

export type SharedChanges = ReturnType<typeof createSharedChanges>

function createUnavailableError(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable. Try again in a few seconds.')
}
