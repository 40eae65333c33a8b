import { createHash, randomUUID } from 'node:crypto'
import type { Client, components } from '@postonce/sdk'

type Schemas = components['schemas']

export interface Creation {
  postId: string
  status: Schemas['PostStatus']
  scheduledAt: string | null
  dueAt: string | null
  warnings: Schemas['Problem'][]
  /** True when an earlier call of this session created the post. */
  isRepeated: boolean
}

export interface Creations {
  /**
   * Creates a post. An agent repeats a call whose result it did not receive, so an equal post in one session is the same post, unless
   * the agent passes a key of its own.
   */
  create(body: Schemas['CreatePost'], idempotencyKey: string | undefined, signal: AbortSignal): Promise<Creation>
}

/** Creates the posts of one session. */
export function createCreations(client: Client): Creations {
  const sessionId = randomUUID()
  const created = new Map<string, string>()

  return {
    async create(body, givenKey, signal) {
      const idempotencyKey = givenKey ?? deriveKey(sessionId, body)
      const knownId = created.get(idempotencyKey)
      const post = await client.posts.create(body, { idempotencyKey, signal })
      created.set(idempotencyKey, post.postId)
      const isRepeated = knownId === post.postId
      if (!isRepeated && givenKey === undefined) return { ...post, isRepeated }
      // The response to a repeated request is the first one. The post may have changed since then.
      const { status, scheduledAt, dueAt } = await client.posts.status(post.postId, { signal })
      return { ...post, status, scheduledAt, dueAt, isRepeated }
    },
  }
}

function deriveKey(sessionId: string, body: object): string {
  return `mcp-${createHash('sha256')
    .update(`${sessionId} ${canonicalJson(body)}`)
    .digest('hex')}`
}

/** Serializes equal values to equal text, whatever the order of their fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
