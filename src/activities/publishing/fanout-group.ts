import { setTimeout as delay } from 'node:timers/promises'

const GATHERING_MS = 2

interface Group {
  count: number
  gathered: Promise<void>
  ended: PromiseWithResolvers<void>
}

/**
 * Deliveries of one post that run in this process go together. They begin in the same turn of the event loop, so that they
 * share reads and claims; and they wait a moment for each other before they end. Nobody waits for that end, since what they did
 * stands in the post; but each that ends alone costs Temporal a workflow task of its own, and those that end together share one.
 */
export function createFanoutGroups(longestWaitMs: number) {
  const running = new Map<string, Group>()

  function join(postId: string): Group {
    const group = running.get(postId) ?? {
      count: 0,
      gathered: delay(GATHERING_MS),
      ended: Promise.withResolvers<void>(),
    }
    group.count += 1
    running.set(postId, group)
    return group
  }

  function leave(postId: string, group: Group): void {
    group.count -= 1
    if (group.count > 0) return
    running.delete(postId)
    group.ended.resolve()
  }

  return {
    /** Runs `work`, and when it succeeded waits for the others of this post, for a moment at most. */
    async run<T>(postId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      const group = join(postId)
      let result: T
      try {
        await group.gathered
        result = await work()
      } finally {
        leave(postId, group)
      }
      if (group.count > 0 && !signal.aborted) await settledOr(group.ended.promise, signal)
      return result
    },
  }

  function settledOr(ended: Promise<void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, longestWaitMs)
      signal.addEventListener('abort', done)
      void ended.finally(done)
    })
  }
}
