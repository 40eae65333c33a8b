import type { Platform } from '../shared/platforms.ts'
import { bisect } from '../shared/lists.ts'
import { DAY, MINUTE } from '../shared/times.ts'

/** Equal content for an account within this time is a duplicate. */
export const DUPLICATE_WINDOW_MS = 30 * DAY

/** Another post, by its row in the import or its id. */
export type Other = { row: number } | { postId: string }

/** A row that would be published close to another post of its account, or repeat one. */
export interface Conflict {
  code: 'TOO_CLOSE' | 'DUPLICATE_CONTENT'
  message: string
  platform: Platform
  accountId?: string
  /** The row or the stored post that it conflicts with. */
  withRow?: number
  withPostId?: string
}

/** One account that receives a post, at its due time. */
export interface Placement {
  /** Identifies the account. */
  account: string
  platform: Platform
  accountId?: string
  /** Identifies the content that the account receives. */
  content: string
}

export interface PlacedPost {
  other: Other
  /** Epoch milliseconds. Drafts without a time are as of now. */
  at: number
  /** False for drafts, which have no due time. */
  isTimed: boolean
  placements: readonly Placement[]
}

interface Entry {
  at: number
  other: Other
}

/**
 * Finds the conflicts of rows with stored posts, and with earlier rows that have no conflict themselves. So leaving out all rows with
 * conflicts leaves posts without any.
 * @param gapMs the shortest time between two posts of an account
 */
export function createConflictFinder(gapMs: number) {
  const times = new Map<string, Entry[]>()
  const contents = new Map<string, Entry[]>()

  function add({ other, at, isTimed, placements }: PlacedPost): void {
    for (const { account, content } of placements) {
      if (isTimed) insert(times, account, { at, other })
      insert(contents, toContentKey(account, content), { at, other })
    }
  }

  return {
    /** Adds a stored post. */
    add,

    /** Returns the conflicts of the next row. A row without any counts for the rows after it. */
    check(row: PlacedPost): Conflict[] {
      const conflicts = row.placements.flatMap((placement): Conflict[] => {
        const { account, content } = placement
        const near = row.isTimed && gapMs > 0 ? findNearest(times.get(account), row.at) : null
        const equal = findNearest(contents.get(toContentKey(account, content)), row.at)
        return [
          ...(near && distance(near, row.at) < gapMs ? [toConflict('TOO_CLOSE', placement, near, row.at)] : []),
          ...(equal && distance(equal, row.at) <= DUPLICATE_WINDOW_MS
            ? [toConflict('DUPLICATE_CONTENT', placement, equal, row.at)]
            : []),
        ]
      })
      if (conflicts.length === 0) add(row)
      return conflicts
    },
  }
}

function toContentKey(account: string, content: string): string {
  return `${account} ${content}`
}

function distance({ at }: Entry, instant: number): number {
  return Math.abs(at - instant)
}

function toConflict(code: Conflict['code'], placement: Placement, entry: Entry, at: number): Conflict {
  const { platform, accountId } = placement
  const isRow = 'row' in entry.other
  const other = isRow ? `row ${(entry.other as { row: number }).row}` : 'a post that you have'
  const minutes = Math.round(distance(entry, at) / MINUTE)
  return {
    code,
    message:
      code === 'TOO_CLOSE'
        ? `${minutes === 1 ? 'One minute' : `${minutes} minutes`} apart from ${other} on the same account. Choose another time.`
        : `The same content as ${other} on the same account within 30 days. Change the text or leave the row out.`,
    platform,
    ...(accountId !== undefined && { accountId }),
    ...('row' in entry.other ? { withRow: entry.other.row } : { withPostId: entry.other.postId }),
  }
}

/** Inserts an entry into the list of a key, which is in order of time. */
function insert(lists: Map<string, Entry[]>, key: string, entry: Entry): void {
  const list = lists.get(key)
  if (!list) lists.set(key, [entry])
  else list.splice(findIndexAt(list, entry.at), 0, entry)
}

/** Returns the index of the first entry that is not before the instant. */
function findIndexAt(list: readonly Entry[], instant: number): number {
  return bisect(list, ({ at }) => at >= instant)
}

function findNearest(list: readonly Entry[] = [], at: number): Entry | null {
  const index = findIndexAt(list, at)
  const [before, after] = [list[index - 1], list[index]]
  if (!before || !after) return before ?? after ?? null
  return distance(before, at) <= distance(after, at) ? before : after
}
