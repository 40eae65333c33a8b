import { expect, it, vi } from 'vitest'
import { createArmedPosts, PostChanged } from '../../../../src/activities/publishing/armed-posts.ts'
import { cancel, edit } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'
import { partial } from '../../../support/partial.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

const scheduledPost = () => buildPost({ scheduledAt: after(T0, 60_000), selectedPlatforms: ['bluesky', 'threads'] })

it.each<[string, Move | null]>([
  ['cancelled', cancel()],
  ['moved', edit({ scheduledAt: after(T0, 120_000) })],
  ['edited', edit({ content: { text: 'Other', mediaItems: [] } })],
  ['removed from a platform', edit({ selectedPlatforms: ['threads'] })],
  ['deleted', null],
])('the wait of an armed post that is %s ends', async (_name, move) => {
  const post = scheduledPost()
  const findArmedFields = async () => new Map(move ? [[post._id, move(post, T0)]] : [])
  const armed = createArmedPosts(partial({ findArmedFields }))
  await expect(armed.waitWith(post, untilAborted)).rejects.toBeInstanceOf(PostChanged)
})

it('one query per second checks all armed posts, and an outage of the database ends no wait', async () => {
  const posts = [scheduledPost(), scheduledPost()]
  const queries: string[][] = []
  const checked = Promise.withResolvers<void>()
  const armed = createArmedPosts(
    partial({
      async findArmedFields(armedPosts) {
        queries.push(armedPosts.map(({ _id }) => _id))
        if (queries.length === 1) throw new Error('no database')
        if (queries.length === 3) checked.resolve()
        // Another platform of the post stored what it prepared.
        return new Map<string, Post>(posts.map((post) => [post._id, { ...post, revision: post.revision + 1 }]))
      },
    }),
  )
  const aborted = vi.fn<() => void>()
  await Promise.all(
    // Two platforms of each post.
    [...posts, ...posts].map((post) =>
      armed.waitWith(post, (signal) => {
        signal.addEventListener('abort', aborted)
        return checked.promise
      }),
    ),
  )
  expect(queries).toEqual([1, 2, 3].map(() => [...posts, ...posts].map(({ _id }) => _id)))
  expect(aborted).not.toHaveBeenCalled()
})
