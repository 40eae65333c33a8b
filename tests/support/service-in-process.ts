import { setTimeout as delay } from 'node:timers/promises'
import { buildApp } from '../../src/api/app.ts'
import type { Context } from '../../src/context.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { newUser } from '../../src/domain/users/user.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { startWorkers, type WorkersOptions } from '../../src/worker/create-workers.ts'
import { unique } from './servers.ts'

interface PublishedChangeData {
  status: string
  requestedBy: string
  error: string | null
  errorCode: string | null
}

export interface PostStatusData {
  postId: string
  status: string
  platformStatuses: {
    platform: string
    accountId: string | null
    accountName: string | null
    server: string | null
    status: string
    platformPostId: string | null
    platformPostUrl: string | null
    error: string | null
    errorCode: string | null
    nextAttemptAt: string | null
    removal?: PublishedChangeData
    revisions?: (PublishedChangeData & { text: string })[]
    parts?: { kind: string; status: string; platformPostId: string | null }[]
    attemptCount: number
  }[]
}

/** Most test files have no Schedules, so no sweeper runs. */
const REPEAT_START_EVERY_MS = 10_000

const FINAL = ['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

/** Starts the API and the workers in this process with one context. Requests use the real routes. */
export async function startServiceInProcess(context: Context) {
  const app = await buildApp(context)
  let workers: Awaited<ReturnType<typeof startWorkers>> | null = await startWorkers(context)

  async function request(
    token: string,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: object,
  ) {
    const send = () =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { payload: body }),
      })
    const isRepeatable = method === 'GET' || (body !== undefined && 'correlationId' in body)
    const response = await (isRepeatable ? repeatWhileBusy(send) : send())
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }

  /** Repeats, like the sweeper, a start or signal that Temporal did not acknowledge within a second: this happens on a busy machine. */
  async function repeatStart(postId: string): Promise<void> {
    const post = await context.posts.find(postId)
    if (post?.startPending) await context.orchestrator.signal(post, 'changed')
  }

  return {
    context,
    app,

    /** Stores a user and logs in. */
    async logIn() {
      const password = unique('password')
      const user = newUser(
        {
          _id: newId(),
          email: `${unique('user')}@example.com`,
          name: 'Test User',
          passwordHash: await context.passwords.hash(password, ''),
          limits: { maxPosts: 1_000, maxCaptionGenerations: 15 },
        },
        new Date(),
      )
      await context.users.insert(user)
      const payload = { email: user.email, password }
      const login = await repeatWhileBusy(() => app.inject({ method: 'POST', url: '/api/auth/login', payload }))
      const token = login.json<{ data: { accessToken: string } }>().data.accessToken
      const call = (method: Parameters<typeof request>[1], url: string, body?: object) =>
        request(token, method, url, body)
      const status = async (postId: string): Promise<PostStatusData> =>
        (await call('GET', `/api/posts/${postId}/status`)).body.data as PostStatusData

      return {
        userId: user._id,
        /** The user's secrets. */
        secrets: { email: user.email, password, token },
        call,
        status,

        /** @returns the post's id */
        async create(body: object): Promise<string> {
          const answer = await call('POST', '/api/posts', { correlationId: unique('create'), ...body })
          if (answer.status !== 201 && answer.status !== 200)
            throw new Error(`creating failed: ${JSON.stringify(answer.body)}`)
          return answer.body.data.postId as string
        },

        /** Uploads bytes to the storage as clients do, and returns the media item. */
        async upload(bytes: Uint8Array<ArrayBuffer>, mimeType: string, altText?: string) {
          const upload = await call('POST', '/api/posts/media/upload', { contentType: mimeType })
          const { uploadUrl, storageKey, storageUrl } = upload.body.data as Record<string, string>
          const put = await fetch(uploadUrl!, { method: 'PUT', body: bytes, headers: { 'content-type': mimeType } })
          if (put.status !== 200) throw new Error(`the upload returned ${put.status}`)
          return {
            storageKey: storageKey!,
            storageUrl: storageUrl!,
            mimeType,
            ...(altText !== undefined && { altText }),
          }
        },

        /** Waits until the post is in one of the given statuses, by default a final one, and its notifications are stored. */
        async until(postId: string, wanted = FINAL): Promise<PostStatusData> {
          const isWanted = ({ status: current }: PostStatusData) => wanted.includes(current)
          const repeats = setInterval(() => void repeatStart(postId).catch(() => {}), REPEAT_START_EVERY_MS)
          try {
            const last = await poll(() => status(postId), isWanted)
            await context.eventRelay.idle()
            return last
          } finally {
            clearInterval(repeats)
          }
        },
      }
    },

    notificationsOf: (userId: string) => context.notifications.listOf(userId, 100),

    async stopWorkers(): Promise<void> {
      await workers?.stop()
      workers = null
    },

    async startWorkers(options: WorkersOptions = {}): Promise<void> {
      workers = await startWorkers(context, options)
    },

    async stop(): Promise<void> {
      await app.close()
      await workers?.stop()
      await context.close()
    },
  }
}

/** Repeats a request as clients do that the API, in this process on a busy machine, did not answer within its deadline. */
async function repeatWhileBusy<T extends { statusCode: number }>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    const response = await send()
    if (response.statusCode !== 503) return response
    await delay(SECOND)
  }
}

/**
 * Polls until the value fits, for states that no event announces to a client. Polls less often the longer it takes: many tests wait at
 * once, and their requests would take the processor from what they wait for.
 */
export async function poll<T>(read: () => Promise<T>, fits: (value: T) => boolean, timeoutMs = 240_000): Promise<T> {
  const start = Date.now()
  for (;;) {
    const value = await read()
    if (fits(value)) return value
    const waitedMs = Date.now() - start
    if (waitedMs > timeoutMs) throw new Error(`Timed out; the last value was ${JSON.stringify(value)}`)
    await delay(Math.min(Math.max(waitedMs / 10, 20), 250))
  }
}
