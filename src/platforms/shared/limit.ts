/** Runs at most `max` works at a time; the others wait in the order they came. */
export function createLimit(max: number) {
  const waiting: (() => void)[] = []
  let running = 0

  return async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The place goes straight to whoever waits longest.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
