/**
 * Puts visible calls before records when many posts are due at the same time. Records wait until the calls end, for `maxWaitMs` at most.
 * A result that is lost in a crash meanwhile is reconciled like any other lost answer.
 */
export function createSendPriority(maxWaitMs: number) {
  let unsent = 0
  let allSent = Promise.withResolvers<void>()

  return {
    /** Runs a call that waited until its post was due. Records wait until it ends. */
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

    /** Resolves when no call is running, or after `maxWaitMs`. */
    async whenIdle(): Promise<void> {
      if (unsent === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, maxWaitMs)
      await Promise.race([allSent.promise, promise])
      clearTimeout(timer)
    },
  }
}
