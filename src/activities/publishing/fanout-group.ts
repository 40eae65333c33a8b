interface GroupOptions {
  /** Ends the wait for the others. */
  signal: AbortSignal
  maxWaitMs: number
}

interface Group {
  count: number
  ended: PromiseWithResolvers<void>
}

/**
 * Groups the deliveries of one post that run in this process. They end together, because activities that complete together cost Temporal a
 * single workflow task. The post already stores their outcomes by then, so the wait delays nothing.
 */
export function createFanoutGroups() {
  const running = new Map<string, Group>()

  function join(postId: string): Group {
    const group = running.get(postId) ?? { count: 0, ended: Promise.withResolvers<void>() }
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
    /** Runs `work`. When it succeeds, waits for the other deliveries of the post, for `maxWaitMs` at most. */
    async run<T>(postId: string, { signal, maxWaitMs }: GroupOptions, work: () => Promise<T>): Promise<T> {
      const group = join(postId)
      let result: T
      try {
        result = await work()
      } finally {
        leave(postId, group)
      }
      if (group.count > 0 && !signal.aborted) await waitForGroup(group.ended.promise, { signal, maxWaitMs })
      return result
    },
  }

  function waitForGroup(ended: Promise<void>, { signal, maxWaitMs }: GroupOptions): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, maxWaitMs)
      signal.addEventListener('abort', done)
      void ended.finally(done)
    })
  }
}
