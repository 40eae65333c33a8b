import { setTimeout as delay } from 'node:timers/promises'
import { request, type Dispatcher } from 'undici'
import type { Platform } from '../src/domain/shared/platforms.ts'

const POLL_MS = 150

interface PlatformStatus {
  platform: Platform
  accountId: string | null
  status: string
  platformPostId: string | null
  platformPostUrl: string | null
  error: string | null
  completedAt: string | null
}

export interface PostOutcome {
  status: string
  platformStatuses: PlatformStatus[]
}

/** Creates the API client of the sandbox, with the calls that any client can make. */
export function createApiClient(base: string) {
  async function call<T>(
    method: Dispatcher.HttpMethod,
    path: string,
    options: { token?: string; body?: unknown } = {},
  ): Promise<T> {
    // `fetch` would add browser headers, for which the API requires cookies.
    const response = await request(`${base}${path}`, {
      method,
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    })
    const answer = (await response.body.json()) as { message: string; data: T }
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} failed with status ${response.statusCode}: ${answer.message}`)
    return answer.data
  }

  return {
    call,

    async logIn({ email, password }: { email: string; password: string }): Promise<string> {
      return (await call<{ accessToken: string }>('POST', '/api/auth/login', { body: { email, password } })).accessToken
    },

    /** Returns false when the service no longer accepts the key. */
    async acceptsKey(apiKey: string): Promise<boolean> {
      const headers = { authorization: `Bearer ${apiKey}` }
      const { statusCode, body } = await request(`${base}/api/platform/accounts`, { headers })
      await body.dump()
      return statusCode !== 401
    },

    /** Polls a post until its status is final. */
    async outcomeOf(postId: string, token: string, withinMs: number): Promise<PostOutcome> {
      for (const deadline = Date.now() + withinMs; ; await delay(POLL_MS)) {
        const post = await call<PostOutcome>('GET', `/api/posts/${postId}/status`, { token })
        if (['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED'].includes(post.status)) return post
        if (Date.now() > deadline) throw new Error(`the post is still ${post.status} after ${withinMs / 1000} s`)
      }
    },
  }
}

export type ApiClient = ReturnType<typeof createApiClient>
