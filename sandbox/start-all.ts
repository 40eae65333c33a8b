/** Waits for all starts. If one fails, the others are stopped. */
export async function startAll<T extends { stop(): Promise<void> }>(starting: Promise<T>[]): Promise<T[]> {
  const starts = await Promise.allSettled(starting)
  const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const failed = starts.find((start) => start.status === 'rejected')
  if (!failed) return running
  await Promise.all(running.map(({ stop }) => stop()))
  throw failed.reason
}
