/** Creates a map from keys to sets of items. Empty sets are removed. */
export function createMultiMap<T>() {
  const groups = new Map<string, Set<T>>()

  return {
    get: (key: string): ReadonlySet<T> => groups.get(key) ?? new Set(),
    get size(): number {
      return groups.size
    },
    all: (): T[] => [...groups.values()].flatMap((group) => [...group]),

    add(key: string, item: T): void {
      const group = groups.get(key)
      if (group) group.add(item)
      else groups.set(key, new Set([item]))
    },

    remove(key: string, item: T): void {
      const group = groups.get(key)
      group?.delete(item)
      if (group?.size === 0) groups.delete(key)
    },
  }
}
