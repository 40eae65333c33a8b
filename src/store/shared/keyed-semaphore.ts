interface Line {
  running: number
  waiting: (() => void)[]
}

/** Runs at most `width` jobs of one key at a time, in the order in which they arrived. */
export function createKeyedSemaphore(width: number) {
  const lines = new Map<string, Line>()

  return async <T>(key: string, job: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    if (line.running < width) line.running += 1
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    try {
      return await job()
    } finally {
      const next = line.waiting.shift()
      // The next job takes over the place of this one.
      if (next) next()
      else if ((line.running -= 1) === 0) lines.delete(key)
    }
  }
}
