/** Runs the task now and again and again, one run at a time, `everyMs` after the last one ended. Returns how to stop it. */
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
