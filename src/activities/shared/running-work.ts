/** Holds work of this process that may outlive the activity that started it. */
export function createRunningWork<T>() {
  const running = new Map<string, Promise<T>>()

  return {
    /** Work that fails is no longer running; its failure is for the caller. */
    add(key: string, work: Promise<T>): void {
      running.set(key, work)
      const remove = () => {
        if (running.get(key) === work) running.delete(key)
      }
      work.then(remove, remove)
    },

    find: (key: string): Promise<T> | undefined => running.get(key),

    /** Resolves when the work that runs now has ended. */
    async ended(): Promise<void> {
      await Promise.allSettled(running.values())
    },
  }
}

export type RunningWork<T> = ReturnType<typeof createRunningWork<T>>
