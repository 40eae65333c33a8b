import type { InjectOptions } from 'fastify'
import type { Context } from '../../src/context.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { accept, claim, refuse } from '../../src/domain/posts/delivery-moves.ts'
import { findEntry } from '../../src/domain/posts/post-entries.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { apiWorld, signIn, type ApiWorld } from './api.ts'

export interface Answer {
  status: number
  headers: Record<string, unknown>
  /** Untyped, because the tests check its shape. */
  body: ReturnType<typeof JSON.parse>
}

/** A user with a session. */
export interface Caller {
  userId: string
  /** The headers of the session, for other routes. */
  headers: Record<string, string>
  call(
    method: NonNullable<InjectOptions['method']>,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export interface PostsWorld extends ApiWorld {
  /** Creates a user; `maxPosts` is the allowance. */
  caller(user?: { isDisabled?: boolean; maxPosts?: number }): Promise<Caller>
}

/** Starts the API on the servers of the test run, without a worker: posts stay as the routes leave them. */
export async function postsWorld(
  parts: Parameters<typeof apiWorld>[1] = {},
  settings: Parameters<typeof apiWorld>[0] = {},
): Promise<PostsWorld> {
  return withCallers(await apiWorld(settings, parts))
}

/** Adds users to an API that a file shares or started. */
export function withCallers(world: ApiWorld): PostsWorld {
  return {
    ...world,
    async caller({ maxPosts = 1_000, isDisabled = false } = {}) {
      const limits = { maxPosts, maxCaptionGenerations: 15 }
      const { user, headers: session } = await signIn(world.context, { limits, isDisabled })
      return {
        userId: user._id,
        headers: session,
        async call(method, path, body, headers = {}) {
          const response = await world.app.inject({
            method,
            url: `/api/posts${path}`,
            headers: { ...session, ...headers },
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
  }
}

/** Returns the body of a create for a text on Bluesky. */
export const postBody = (change: Record<string, unknown> = {}) => ({
  content: { text: 'Good morning' },
  selectedPlatforms: ['bluesky'],
  ...change,
})

export const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** Records deliveries of a due post as a worker would. Platforms without an outcome stay pending. */
export async function deliver(
  { posts }: Pick<Context, 'posts'>,
  postId: string,
  outcomes: Partial<Record<Platform, 'accepted' | 'refused' | 'claimed'>>,
): Promise<void> {
  for (const [platform, outcome] of Object.entries(outcomes) as [Platform, string][]) {
    const post = (await posts.find(postId))!
    const { round } = findEntry(post, platform)!.delivery
    const claimed = await posts.transition(
      post,
      claim(platform, {
        round,
        leaseUntil: new Date(Date.now() + 10_000),
        accountId: 'did:example:ann',
        contentVersion: post.contentVersion,
      }),
    )
    if (outcome === 'accepted') {
      const published = { platformPostId: `at://${newId()}`, platformPostUrl: 'https://bsky.app/profile/ann/post/1' }
      await posts.transition(post, accept(platform, published))
    }
    if (outcome === 'refused') {
      const from = { round, attempt: findEntry(claimed, platform)!.delivery.attempt }
      const reason = { code: 'validation', message: 'The platform refused it' } as const
      await posts.transition(post, refuse(platform, reason, from))
    }
  }
}
