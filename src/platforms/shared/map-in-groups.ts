/** Maps the items in order, `size` at a time. After a failure no further group starts. */
export async function mapInGroups<T, R>(items: T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < items.length; at += size) {
    done.push(...(await Promise.all(items.slice(at, at + size).map(work))))
  }
  return done
}
