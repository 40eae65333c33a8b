import { afterEach, expect, it, vi } from 'vitest'
import { createStorePost } from '../../../../src/commands/posts/store-post.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { buildPost } from '../../../support/posts.ts'
import { partial } from '../../../support/partial.ts'

type Deps = Parameters<typeof createStorePost>[0]

/** A database whose transactions commit when the test lets them. */
function testStore() {
  const transactions: { userIds: string[]; commit: () => void }[] = []
  const database: Deps['database'] = partial({
    async transaction(work) {
      const result = await work({} as never)
      await new Promise<void>((commit) => {
        transactions.at(-1)!.commit = commit
      })
      return result
    },
  })
  const storePost = createStorePost(
    partial<Deps>({
      database,
      eventRelay: partial({ add: () => {} }),
      posts: partial({
        async insert(group) {
          transactions.push({ userIds: group.map(({ userId }) => userId), commit: () => {} })
        },
      }),
      notifications: partial({ toRecords: async () => [], insert: async () => {}, beginSending: () => {} }),
      users: partial({
        takeAllowance: async () => ({ taken: true, used: 1, limit: 10 }),
        takePostAllowances: async () => true,
        findTimezones: async () => new Map(),
      }),
    }),
  )
  const began = (count: number) => vi.waitFor(() => expect(transactions).toHaveLength(count))
  const stored = () => transactions.map(({ userIds }) => userIds)
  return { store: (...posts: Post[]) => Promise.all(posts.map(storePost)), transactions, began, stored }
}

afterEach(() => vi.useRealTimers())

const [ofAnn, ofBob] = [() => buildPost({ userId: 'ann' }), () => buildPost({ userId: 'bob' })]

it('posts that arrive together are stored in one transaction, whoever wrote them', async () => {
  const { store, transactions, began, stored } = testStore()
  const storing = store(ofAnn(), ofAnn(), ofBob())
  await began(1)
  transactions[0]!.commit()
  await storing
  expect(stored()).toEqual([['ann', 'ann', 'bob']])
})

it('a user is in one transaction at a time, and delays no other user', async () => {
  const { store, transactions, began, stored } = testStore()
  const first = store(ofAnn())
  await began(1)
  const more = store(ofAnn(), ofAnn())
  const other = store(ofBob())
  await began(2)
  transactions[1]!.commit()
  await other
  expect(stored()).toEqual([['ann'], ['bob']])
  transactions[0]!.commit()
  await first
  await began(3)
  transactions[2]!.commit()
  await more
  expect(stored()[2]).toEqual(['ann', 'ann'])
})

it('a transaction has at most 50 posts, and at most 5 of a user', async () => {
  const { store, transactions, began, stored } = testStore()
  const users = Array.from({ length: 12 }, (_, index) => `user ${index}`)
  void store(...users.flatMap((userId) => Array.from({ length: 6 }, () => buildPost({ userId }))))
  await began(2)
  for (const { commit } of transactions) commit()
  await began(3)
  expect(stored()[0]).toHaveLength(50)
  expect(stored()[0]!.filter((userId) => userId === 'user 0')).toHaveLength(5)
})

it('posts that wait for a locked user for as long as a transaction may take are refused, and not stored', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { store, transactions, began, stored } = testStore()
  const first = store(ofAnn())
  await began(1)
  const late = Array.from({ length: 8 }, () => store(ofAnn()).catch((error: { code: string }) => error.code))
  vi.advanceTimersByTime(5_000)
  transactions[0]!.commit()
  await first
  expect(await Promise.all(late)).toEqual(Array(8).fill('SERVICE_UNAVAILABLE'))
  expect(stored()).toEqual([['ann']])
})
