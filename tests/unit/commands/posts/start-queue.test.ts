import { expect, it, vi } from 'vitest'
import type { Parts } from '../../../../src/commands/parts.ts'
import { createStartQueue } from '../../../../src/commands/posts/start-queue.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'
import { partial } from '../../../support/partial.ts'

const scheduledPost = (userId = 'ann') => buildPost({ userId, scheduledAt: after(T0, 3_600_000) })

/** A queue whose starts end when the test lets them. `stored` is what the database returns for a post. */
function testQueue(sizes: { concurrent?: number; queued?: number; drainMs?: number } = {}) {
  const waiting = new Map<string, (acknowledged: boolean) => void>()
  const order: string[] = []
  const signals: { postId: string; revision: number; signal: string }[] = []
  const stored = new Map<string, Post | null>()
  const reported: number[] = []
  const queue = createStartQueue(
    partial<Parts>({
      posts: partial({
        find: async (postId) => stored.get(postId) ?? null,
        acknowledgeStart: async (post) => !stored.has(post._id),
      }),
      orchestrator: partial({
        start(post) {
          order.push(post._id)
          return new Promise((resolve) => void waiting.set(post._id, resolve))
        },
        async signal({ _id, revision }, signal) {
          signals.push({ postId: _id, revision, signal })
          return true
        },
      }),
      metrics: partial({ startsQueued: (count) => void reported.push(count) }),
      logger: partial({ warn: () => {} }),
    }),
    { free: 1, pro: 2 },
    sizes,
  )
  const end = (post: Post, acknowledged = true) => waiting.get(post._id)!(acknowledged)
  return { queue, order, signals, stored, reported, end }
}

/** Lets every settled promise run its handlers. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('a create does not wait for Temporal', async () => {
  const { queue, order, end, reported } = testQueue()
  const post = scheduledPost()
  await queue.add(post)
  await settle()
  expect(order).toEqual([post._id])
  end(post)
  await settle()
  expect(reported).toEqual([1, 0])
})

it('users take turns', async () => {
  const { queue, order, end } = testQueue({ concurrent: 1 })
  const [first, second, third] = [scheduledPost(), scheduledPost(), scheduledPost()]
  const other = scheduledPost('bob')
  for (const post of [first, second, third, other]) await queue.add(post)
  await settle()
  for (const post of [first, other, second]) {
    end(post)
    await settle()
  }
  expect(order).toEqual([first, other, second, third].map(({ _id }) => _id))
})

it('while the queue is full, a create waits for its start', async () => {
  const { queue, end } = testQueue({ concurrent: 1, queued: 1 })
  const [first, second] = [scheduledPost(), scheduledPost()]
  await queue.add(first)
  const added = vi.fn<() => void>()
  const adding = queue.add(second).then(added)
  await settle()
  expect(added).not.toHaveBeenCalled()
  end(first)
  await settle()
  expect(added).not.toHaveBeenCalled()
  end(second)
  await adding
})

it('a full queue that Temporal does not empty delays a create for about a second, and the sweeper starts the post', async () => {
  const { queue, order, end } = testQueue({ concurrent: 1, queued: 1 })
  const [first, second] = [scheduledPost(), scheduledPost()]
  await queue.add(first)
  await queue.add(second)
  end(first)
  await settle()
  expect(order).toEqual([first._id])
})

it.each([
  ['cancelled', (post: Post) => ({ ...post, status: 'CANCELLED' as const, revision: 4 }), 4],
  ['deleted', () => null, 1],
])('the workflow of a post that was %s before its start ends', async (_name, change, revision) => {
  const { queue, signals, stored, end } = testQueue()
  const post = scheduledPost()
  await queue.add(post)
  stored.set(post._id, change(post))
  end(post)
  await settle()
  expect(signals).toEqual([{ postId: post._id, revision, signal: 'cancel' }])
})

it('a post that was edited before its start was acknowledged gets no second signal', async () => {
  const { queue, signals, stored, end } = testQueue()
  const post = scheduledPost()
  await queue.add(post)
  stored.set(post._id, { ...post, revision: 2 })
  end(post)
  await settle()
  expect(signals).toEqual([])
})

it('closing waits for the queued starts', async () => {
  const { queue, order, end } = testQueue({ concurrent: 1 })
  const [first, second] = [scheduledPost(), scheduledPost()]
  await queue.add(first)
  await queue.add(second)
  const closed = vi.fn<() => void>()
  const closing = queue.close().then(closed)
  end(first)
  await settle()
  expect(closed).not.toHaveBeenCalled()
  end(second)
  await closing
  expect(order).toEqual([first._id, second._id])
})

it('closing takes a limited time, and starts nothing afterwards', async () => {
  const { queue, order, end } = testQueue({ concurrent: 1, drainMs: 20 })
  const [first, second] = [scheduledPost(), scheduledPost()]
  await queue.add(first)
  await queue.add(second)
  await queue.close()
  end(first, false)
  await settle()
  expect(order).toEqual([first._id])
})
