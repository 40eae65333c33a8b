import type { OperationKind, Wish } from './judge/evidence.ts'
import type { Answer, OperationLog } from './operations.ts'

export type Send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<Answer>

interface ClientOptions {
  log: OperationLog
  userId: string
  send: Send
  /** The API process that is asked, as outages name it. */
  process?: string
  /** What the user's posts with an image have. */
  image?: object
}

/** One user's requests about posts, each of them noted for the judge. Null is no answer. */
export function createClient({ log, userId, send, process, image }: ClientOptions) {
  const where = process === undefined ? {} : { process }

  function ask(kind: OperationKind, postId: string, method: Parameters<Send>[0], path = '', wish?: Wish) {
    const asked = { kind, userId, postId, ...where, ...(wish ? { wish } : {}) }
    return log.record(asked, () => send(method, `/api/posts/${postId}${path}`, wish && bodyOf(wish, image)))
  }

  return {
    userId,
    create: (wish: Wish) =>
      log.record({ kind: 'create', userId, wish, ...where }, () => send('POST', '/api/posts', bodyOf(wish, image))),
    edit: (postId: string, wish: Wish) => ask('edit', postId, 'PATCH', '', wish),
    cancel: (postId: string) => ask('cancel', postId, 'POST', '/cancel'),
    retry: (postId: string) => ask('retry', postId, 'POST', '/retry'),
    delete: (postId: string) => ask('delete', postId, 'DELETE'),
    read: (postId: string) => ask('read', postId, 'GET', '/status'),
    other: (method: Parameters<Send>[0], path: string, body?: object) =>
      log.record({ kind: 'other', userId, ...where }, () => send(method, path, body)),
  }
}

export type Client = ReturnType<typeof createClient>

function bodyOf(wish: Wish, image?: object): object {
  const { text, overrides, withImage, scheduledAt, status, platforms, idempotencyKey } = wish
  const instant = typeof scheduledAt === 'number' ? new Date(scheduledAt).toISOString() : scheduledAt
  return {
    ...(text === undefined ? {} : { content: { text, ...(withImage ? { mediaItems: [image] } : {}) } }),
    ...(overrides === undefined ? {} : { platformSpecificContent: textsOf(overrides) }),
    ...(instant === undefined ? {} : { scheduledAt: instant }),
    ...(status === undefined ? {} : { status }),
    ...(platforms === undefined ? {} : { selectedPlatforms: platforms }),
    ...(idempotencyKey === undefined ? {} : { correlationId: idempotencyKey }),
  }
}

function textsOf(overrides: NonNullable<Wish['overrides']>): object {
  return Object.fromEntries(Object.entries(overrides).map(([platform, text]) => [platform, { text }]))
}
