/** How work is divided among servers. */
export interface Lanes<T> {
  /** Returns the name of the server that an item belongs to. */
  toServer: (item: T) => string
  /** The largest number of items of one server that are worked on concurrently. */
  perServer: number
}

/**
 * Works on the items of all servers concurrently, so that no server waits for another.
 * @throws the first failure, after the other lanes have ended
 */
export async function workByServer<T>(
  items: readonly T[],
  { toServer, perServer }: Lanes<T>,
  work: (item: T, server: string) => Promise<void>,
): Promise<void> {
  const lanes = [...Map.groupBy(items, toServer)].flatMap(([server, queue]) =>
    Array.from({ length: Math.min(perServer, queue.length) }, () => runLane(server, queue)),
  )
  const results = await Promise.allSettled(lanes)
  for (const result of results) if (result.status === 'rejected') throw result.reason

  async function runLane(server: string, queue: T[]): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, server)
  }
}
