/** Runs the task immediately, and again `everyMs` after each run ends. Returns a function that stops it. */
export function runPeriodically(task: () => Promise<void>, everyMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function run(): Promise<void> {
    await task()
    if (!isStopped) timer = setTimeout(() => void run(), everyMs).unref()
  }

  void run()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
