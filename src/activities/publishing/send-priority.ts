/**
 * When many posts share an instant, the calls that make them visible come first: what they answered is recorded behind them,
 * a moment later at most. What a crash would leave unrecorded meanwhile is reconciled like any other lost answer.
 */
export function createSendPriority(longestWaitMs: number) {
  let unsent = 0
  let allSent = Promise.withResolvers<void>()

  return {
    /** Runs a send that waited for its instant; others' records stand back until it has ended. */
    async send<T>(send: () => Promise<T>): Promise<T> {
      unsent += 1
      try {
        return await send()
      } finally {
        unsent -= 1
        if (unsent === 0) {
          allSent.resolve()
          allSent = Promise.withResolvers()
        }
      }
    },

    /** Resolves when no send stands before the caller, or soon. */
    async whenIdle(): Promise<void> {
      if (unsent === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, longestWaitMs)
      await Promise.race([allSent.promise, promise])
      clearTimeout(timer)
    },
  }
}
