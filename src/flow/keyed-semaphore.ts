interface Line {
  running: number
  waiting: (() => void)[]
}

/** Runs at most `width` jobs per key concurrently, in order of arrival. */
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
      // The next job takes over this job's slot.
      if (next) next()
      else if ((line.running -= 1) === 0) lines.delete(key)
    }
  }
}
