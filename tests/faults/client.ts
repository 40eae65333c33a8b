import { PLATFORMS } from '../../src/domain/shared/platforms.ts'
import type { OperationKind, PostInput } from './judge/evidence.ts'
import type { Answer, OperationLog } from './operations.ts'

export type Send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<Answer>

interface ClientOptions {
  log: OperationLog
  userId: string
  send: Send
  /** The API process that gets the requests, by its name in the outages. */
  process?: string
  /** The media item of the user's posts with an image. */
  image?: object
}

/** Creates a client that sends one user's post requests and records each for the judge. A request without a response returns null. */
export function createClient({ log, userId, send, process, image }: ClientOptions) {
  const target = process === undefined ? {} : { process }

  function request(kind: OperationKind, postId: string, method: Parameters<Send>[0], path = '', input?: PostInput) {
    const invocation = { kind, userId, postId, ...target, ...(input ? { input } : {}) }
    return log.record(invocation, () =>
      send(method, `/api/posts/${postId}${path}`, input && toRequestBody(input, image)),
    )
  }

  return {
    userId,
    create: (input: PostInput) =>
      log.record({ kind: 'create', userId, input, ...target }, () =>
        send('POST', '/api/posts', toRequestBody(input, image)),
      ),
    edit: (postId: string, input: PostInput) => request('edit', postId, 'PATCH', '', input),
    cancel: (postId: string) => request('cancel', postId, 'POST', '/cancel'),
    retry: (postId: string) => request('retry', postId, 'POST', '/retry'),
    delete: (postId: string) => request('delete', postId, 'DELETE'),
    read: (postId: string) => request('read', postId, 'GET', '/status'),
    other: (method: Parameters<Send>[0], path: string, body?: object) =>
      log.record({ kind: 'other', userId, ...target }, () => send(method, path, body)),
  }
}

export type Client = ReturnType<typeof createClient>

function toRequestBody(input: PostInput, image?: object): object {
  const { text, segments, firstComment, withImage, overrides, scheduledAt, status, platforms, accounts } = input
  const content = {
    text,
    ...(segments && { segments: segments.map((segment) => ({ text: segment })) }),
    ...(firstComment !== undefined && { firstComment }),
    ...(withImage && { mediaItems: [image] }),
  }
  const instant = typeof scheduledAt === 'number' ? new Date(scheduledAt).toISOString() : scheduledAt
  return {
    ...(text === undefined ? {} : { content }),
    ...toSpecificContent(overrides),
    ...(instant === undefined ? {} : { scheduledAt: instant }),
    ...(status === undefined ? {} : { status }),
    ...(platforms === undefined ? {} : { selectedPlatforms: platforms }),
    ...(accounts === undefined ? {} : { selectedAccounts: accounts }),
    ...(input.idempotencyKey === undefined ? {} : { correlationId: input.idempotencyKey }),
  }
}

function toSpecificContent(overrides: PostInput['overrides'] = {}): object {
  const isPlatform = ([target]: [string, object]) => PLATFORMS.some((platform) => platform === target)
  const contents = Object.entries(overrides).map(([target, text]): [string, object] => [target, { text }])
  const [platforms, accounts] = [contents.filter(isPlatform), contents.filter((one) => !isPlatform(one))]
  return {
    ...(platforms.length > 0 && { platformSpecificContent: Object.fromEntries(platforms) }),
    ...(accounts.length > 0 && { accountSpecificContent: Object.fromEntries(accounts) }),
  }
}
