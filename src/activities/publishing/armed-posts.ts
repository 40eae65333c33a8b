import { setTimeout as delay } from 'node:timers/promises'
import { hasChangedWhileArmed, type ArmedFields } from '../../domain/posts/armed-fields.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PostStore } from '../../store/posts/posts.ts'

const CHECK_INTERVAL_MS = SECOND

interface Armed {
  post: ArmedFields
  changed: AbortController
}

/** The reason of an ended wait. The post has to be read again. */
export class PostChanged extends Error {
  constructor() {
    super('the post changed while its delivery was armed')
    this.name = 'PostChanged'
  }
}

/**
 * The deliveries of this process that wait for their instant. Changes of their posts are noticed by one query per second for all of them,
 * because a cancelled activity learns of it only with its next heartbeat.
 */
export function createArmedPosts(posts: PostStore) {
  const armed = new Set<Armed>()
  let isChecking = false

  async function keepChecking(): Promise<void> {
    isChecking = true
    while (armed.size > 0) {
      await delay(CHECK_INTERVAL_MS, undefined, { ref: false })
      // In an outage of the database the waits go on. The claim waits for the database.
      await check().catch(() => {})
    }
    isChecking = false
  }

  async function check(): Promise<void> {
    const current = await posts.findArmedFields([...armed].map(({ post }) => post))
    for (const { post, changed } of armed) {
      const now = current.get(post._id)
      if (!now || hasChangedWhileArmed(post, now)) changed.abort(new PostChanged())
    }
  }

  return {
    /**
     * Runs `wait` with a signal that aborts when the post changes.
     * @throws PostChanged when `wait` ends for that reason
     */
    async waitWith(post: ArmedFields, wait: (changed: AbortSignal) => Promise<void>): Promise<void> {
      const entry = { post, changed: new AbortController() }
      armed.add(entry)
      if (!isChecking) void keepChecking()
      try {
        await wait(entry.changed.signal)
      } finally {
        armed.delete(entry)
      }
    },
  }
}
