import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createConflictFinder,
  DUPLICATE_WINDOW_MS,
  type Conflict,
  type PlacedPost,
} from '../../../../src/domain/imports/conflicts.ts'
import { DAY, MINUTE } from '../../../../src/domain/shared/times.ts'

const NOW = Date.UTC(2027, 0, 1)
type Row = PlacedPost & { other: { row: number } }

const placement = (account: string, content: string) => ({
  account,
  platform: 'bluesky' as const,
  accountId: account,
  content,
})
const row = (number: number, minute: number, content = `text ${number}`, accounts = ['a'], isTimed = true): Row => ({
  other: { row: number },
  at: NOW + minute * MINUTE,
  isTimed,
  placements: accounts.map((account) => placement(account, content)),
})
const post = (postId: string, minute: number, content = postId): PlacedPost => ({
  other: { postId },
  at: NOW + minute * MINUTE,
  isTimed: true,
  placements: [placement('a', content)],
})
const GAP = 10 * MINUTE
/** The conflicts by row; rows without any are missing. */
function findConflicts(stored: PlacedPost[], rows: Row[], gapMs: number): Map<number, Conflict[]> {
  const finder = createConflictFinder(gapMs)
  for (const one of stored) finder.add(one)
  const found = rows.map((one) => [one.other.row, finder.check(one)] as const)
  return new Map(found.filter(([, conflicts]) => conflicts.length > 0))
}

const codes = (found: ReturnType<typeof findConflicts>) =>
  Object.fromEntries([...found].map(([number, conflicts]) => [number, conflicts.map(({ code }) => code)]))

describe('conflicts of rows', () => {
  it('rows of an account that are closer than the gap are in conflict, and the gap itself is allowed', () => {
    expect(codes(findConflicts([], [row(1, 0), row(2, 9), row(3, 10), row(4, 25)], GAP))).toEqual({ 2: ['TOO_CLOSE'] })
    expect(codes(findConflicts([], [row(1, 20), row(2, 11)], GAP))).toEqual({ 2: ['TOO_CLOSE'] })
  })

  it('a conflict names the row or the post and the distance', () => {
    const [[, conflicts]] = [...findConflicts([post('p', 4)], [row(1, 0)], GAP)] as [[number, object[]]]
    expect(conflicts).toEqual([
      {
        code: 'TOO_CLOSE',
        message: expect.stringContaining('4 minutes apart from a post that you have'),
        platform: 'bluesky',
        accountId: 'a',
        withPostId: 'p',
      },
    ])
    expect(findConflicts([], [row(1, 0), row(2, 1)], GAP).get(2)).toMatchObject([
      { message: expect.stringContaining('One minute apart from row 1'), withRow: 1 },
    ])
  })

  it('other accounts and drafts do not conflict by time', () => {
    const rows = [row(1, 0), row(2, 0, 'b', ['b']), row(3, 0, 'c', ['a'], false)]
    expect(codes(findConflicts([], rows, GAP))).toEqual({})
  })

  it('a gap of 0 allows posts at the same time', () => {
    expect(codes(findConflicts([], [row(1, 0), row(2, 0)], 0))).toEqual({})
  })

  it('equal content for an account within 30 days is a duplicate, also of a draft', () => {
    const days = DUPLICATE_WINDOW_MS / DAY
    const stored = [post('p', 0, 'same')]
    const rows = [
      row(1, days * 1_440, 'same'),
      row(2, days * 1_440 + 1, 'same'),
      row(3, 60, 'same', ['b']),
      row(4, 60, 'same', ['a'], false),
    ]
    expect(codes(findConflicts(stored, rows, GAP))).toEqual({ 1: ['DUPLICATE_CONTENT'], 4: ['DUPLICATE_CONTENT'] })
  })

  it('the nearer of two posts counts', () => {
    const found = findConflicts([post('p', 0), post('q', 8)], [row(1, 5)], GAP)
    expect(found.get(1)).toMatchObject([{ withPostId: 'q' }])
  })

  it('leaving out all rows with conflicts leaves none, and each of them conflicts with what stays', () => {
    const anyRows = fc.array(
      fc.record({
        minute: fc.integer({ min: 0, max: 120 }),
        content: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
        accounts: fc.subarray(['a', 'b'], { minLength: 1 }),
        isTimed: fc.boolean(),
      }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 0, max: 30 }), (given, gap) => {
        const rows = given.map((one, index) => row(index + 1, one.minute, one.content, one.accounts, one.isTimed))
        const found = findConflicts([], rows, gap * MINUTE)
        const remaining = rows.filter(({ other }) => !found.has(other.row))
        expect(findConflicts([], remaining, gap * MINUTE).size).toBe(0)
        for (const conflict of [...found.values()].flat()) {
          expect(remaining.map(({ other }) => other.row)).toContain(conflict.withRow)
        }
        const contents = remaining.flatMap(({ placements }) => placements.map((one) => `${one.account} ${one.content}`))
        expect(new Set(contents).size).toBe(contents.length)
      }),
    )
  })
})
