/** Like `Promise.all`, but waits for all promises before it throws. */
export async function allSettledOrThrow<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running)
  return Promise.all(running)
}
