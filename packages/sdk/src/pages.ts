interface Page<T> {
  items: T[]
  totalPages: number
}

/**
 * Yields the items of all pages. A new item at the front moves others to the next page; these are not yielded twice.
 * @param readPage reads a page; the first is 1
 * @param getId identifies an item
 */
export async function* iteratePages<T>(
  readPage: (page: number) => Promise<Page<T>>,
  getId: (item: T) => string,
): AsyncGenerator<T, void> {
  let previous = new Set<string>()
  for (let page = 1; ; page++) {
    const { items, totalPages } = await readPage(page)
    for (const item of items) if (!previous.has(getId(item))) yield item
    if (page >= totalPages || items.length === 0) return
    previous = new Set(items.map(getId))
  }
}
