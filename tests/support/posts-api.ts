import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApp } from '../../src/api/app.ts'
import { openSession } from '../../src/commands/open-session.ts'
import type { Context } from '../../src/context.ts'
import type { Platform } from '../../src/domain/platforms.ts'
import { accept, claim, refuse } from '../../src/domain/post-moves.ts'
import type { Post } from '../../src/domain/post.ts'
import { newUser, type User } from '../../src/domain/user.ts'
import { newId } from '../../src/store/schema-options.ts'
import { testContext, unique } from './servers.ts'

export interface Answer {
  status: number
  headers: Record<string, unknown>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it is, is what the tests find out
  body: any
}

/** Someone with a session of their own. */
export interface Caller {
  userId: string
  call(
    method: NonNullable<InjectOptions['method']>,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export interface PostsWorld {
  context: Context
  app: FastifyInstance
  /** A new user; `maxPosts` is the allowance, 1,000 when not said. */
  caller(user?: Partial<Pick<User, 'isDisabled'>> & { maxPosts?: number }): Promise<Caller>
  close(): Promise<void>
}

const UNLIMITED = { RATE_LIMIT_PER_ADDRESS: 1_000_000, RATE_LIMIT_PER_USER: 1_000_000 }

/** The API on the servers of the test run, without a worker: posts stay as the routes leave them. */
export async function postsWorld(parts: Parameters<typeof testContext>[1] = {}): Promise<PostsWorld> {
  const context = await testContext(UNLIMITED, parts)
  const app = await buildApp(context)

  return {
    context,
    app,

    async caller({ maxPosts = 1_000, ...changes } = {}) {
      const limits = { maxPosts, maxCaptionGenerations: 15 }
      const email = `${unique('user')}@example.test`
      const user = {
        ...newUser({ _id: newId(), email, name: 'Ann', passwordHash: null, limits }, new Date()),
        ...changes,
      }
      await context.users.insert(user)
      const { accessToken } = await openSession(context, user, { ipAddress: '127.0.0.1', userAgent: 'test' })
      return {
        userId: user._id,
        async call(method, path, body, headers = {}) {
          const response = await app.inject({
            method,
            url: `/api/posts${path}`,
            headers: { authorization: `Bearer ${accessToken}`, ...headers },
            ...(body === undefined ? {} : { payload: body as object }),
          })
          return {
            status: response.statusCode,
            headers: response.headers,
            body: response.body === '' ? null : response.json(),
          }
        },
      }
    },

    async close() {
      await app.close()
      await context.close()
    },
  }
}

/** What a create needs, for a text on Bluesky. */
export const postBody = (change: Record<string, unknown> = {}) => ({
  content: { text: 'Good morning' },
  selectedPlatforms: ['bluesky'],
  ...change,
})

export const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** Delivers a due post the way a worker would record it; platforms that are not named stay pending. */
export async function deliver(
  context: Context,
  postId: string,
  outcomes: Partial<Record<Platform, 'accepted' | 'refused' | 'claimed'>>,
) {
  for (const [platform, outcome] of Object.entries(outcomes) as [Platform, string][]) {
    const { delivery } = entryOf((await context.posts.find(postId))!, platform)
    const wanted = {
      round: delivery.round,
      key: newId(),
      leaseUntil: new Date(Date.now() + 10_000),
      accountId: 'did:example:ann',
      contentVersion: (await context.posts.find(postId))!.contentVersion,
    }
    const claimed = await context.posts.transition(postId, claim(platform, wanted))
    const from = { round: delivery.round, attempt: entryOf(claimed, platform).delivery.attempt }
    if (outcome === 'accepted') {
      const published = { platformPostId: `at://${newId()}`, platformPostUrl: 'https://bsky.app/profile/ann/post/1' }
      await context.posts.transition(postId, accept(platform, published))
    }
    if (outcome === 'refused') {
      await context.posts.transition(
        postId,
        refuse(platform, { code: 'validation', message: 'The platform said no' }, from),
      )
    }
  }
  return (await context.posts.find(postId))!
}

function entryOf(post: Post, platform: Platform) {
  return post.platformStatuses.find((entry) => entry.platform === platform)!
}
