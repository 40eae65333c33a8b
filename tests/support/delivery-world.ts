import { buildApp } from '../../src/api/app.ts'
import type { Config } from '../../src/config.ts'
import { newUser } from '../../src/domain/user.ts'
import { newId } from '../../src/store/schema-options.ts'
import type { Logger } from '../../src/logger.ts'
import { startWorkers } from '../../src/workers.ts'
import { startBluesky } from '../../sandbox/platforms/bluesky.ts'
import { controlOf, type LedgerEntry } from './platform-control.ts'
import { testContext, unique } from './servers.ts'

export interface PostStatusData {
  postId: string
  status: string
  platformStatuses: {
    platform: string
    status: string
    platformPostId: string | null
    platformPostUrl: string | null
    error: string | null
    errorCode: string | null
    attemptCount: number
  }[]
}

/**
 * The whole service in this process, on the servers of the test run, with a Bluesky server of the file's own: faults
 * are seen by nobody else. Requests go through the real routes.
 */
export async function startDeliveryWorld(overrides: Partial<Config> = {}, parts: { logger?: Logger } = {}) {
  const bluesky = await startBluesky()
  const context = await testContext(
    {
      BLUESKY_ENTRY_URL: bluesky.url,
      BLUESKY_VIDEO_URL: bluesky.url,
      RATE_LIMIT_PER_USER: 100_000,
      RATE_LIMIT_PER_ADDRESS: 100_000,
      ...overrides,
    },
    parts,
  )
  const app = await buildApp(context)
  let workers = await startWorkers(context)

  async function request(
    token: string,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: object,
  ) {
    const response = await app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { payload: body }),
    })
    return { status: response.statusCode, body: response.json() }
  }

  return {
    context,
    app,
    bluesky,
    control: controlOf(bluesky.control),

    /** A user who is logged in, with Bluesky connected unless told otherwise. */
    async user(options: { connected?: boolean } = {}) {
      const password = unique('password')
      const user = newUser(
        {
          _id: newId(),
          email: `${unique('user')}@example.com`,
          name: 'Test User',
          passwordHash: await context.passwords.hash(password),
          limits: { maxPosts: 1_000, maxCaptionGenerations: 15 },
        },
        new Date(),
      )
      await context.users.insert(user)
      const login = await app.inject({
        method: 'POST',
        url: '/api/auth/login',
        payload: { email: user.email, password },
      })
      const token = login.json<{ data: { accessToken: string } }>().data.accessToken
      const account = await bluesky.createAccount({ handle: `${unique('u')}.test` })
      const call = (method: Parameters<typeof request>[1], url: string, body?: object) =>
        request(token, method, url, body)
      const connect = () =>
        call('POST', '/api/platform/bluesky/connect', { identifier: account.handle, appPassword: account.appPassword })
      if (options.connected !== false) {
        const { status, body } = await connect()
        if (status !== 200) throw new Error(`connecting failed: ${JSON.stringify(body)}`)
      }

      async function create(body: object): Promise<string> {
        const answer = await call('POST', '/api/posts', { selectedPlatforms: ['bluesky'], ...body })
        if (answer.status !== 201) throw new Error(`creating failed: ${JSON.stringify(answer.body)}`)
        return answer.body.data.postId as string
      }

      /** A media item whose bytes are in storage, sent there as clients do. */
      async function upload(bytes: Uint8Array<ArrayBuffer>, mimeType: string, altText?: string) {
        const asked = await call('POST', '/api/posts/media/upload', { contentType: mimeType })
        const { uploadUrl, storageKey, storageUrl } = asked.body.data as Record<string, string>
        const put = await fetch(uploadUrl!, { method: 'PUT', body: bytes, headers: { 'content-type': mimeType } })
        if (put.status !== 200) throw new Error(`the upload was answered with ${put.status}`)
        return { storageKey: storageKey!, storageUrl: storageUrl!, mimeType, ...(altText !== undefined && { altText }) }
      }

      const status = async (postId: string): Promise<PostStatusData> =>
        (await call('GET', `/api/posts/${postId}/status`)).body.data as PostStatusData

      return {
        userId: user._id,
        /** What this user has to keep secret. */
        secrets: { email: user.email, password, token, appPassword: account.appPassword },
        account,
        call,
        connect,
        create,
        upload,
        status,
        /** Waits until the post is in one of the given statuses, by default a final one. */
        until: (postId: string, wanted = ['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']) =>
          poll(
            () => status(postId),
            ({ status: current }) => wanted.includes(current),
          ),
        /** What the public sees of this user on Bluesky. */
        published: async (): Promise<LedgerEntry[]> =>
          (await controlOf(bluesky.control).ledger()).filter((entry) => entry.account === account.handle),
      }
    },

    notificationsOf: (userId: string) => context.notifications.listOf(userId, 100),

    async stopWorkers(): Promise<void> {
      await workers.stop()
    },

    async startWorkers(): Promise<void> {
      workers = await startWorkers(context)
    },

    async stop(): Promise<void> {
      await app.close()
      await workers.stop()
      await context.close()
      await bluesky.stop()
    },
  }
}

export type DeliveryWorld = Awaited<ReturnType<typeof startDeliveryWorld>>

/** Asks until the answer fits; for states that no event announces to a client. */
export async function poll<T>(ask: () => Promise<T>, fits: (answer: T) => boolean, timeoutMs = 45_000): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (fits(answer)) return answer
    if (Date.now() > end) throw new Error(`Timed out; the last answer was ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
