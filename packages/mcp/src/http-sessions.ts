import { createHash, timingSafeEqual } from 'node:crypto'

interface Closable {
  close(): Promise<void>
}

interface Entry<T> {
  session: T
  keyDigest: Buffer
  openRequests: number
  lastUsedAt: number
}

export interface SessionLimits {
  /** The session of a key that was unused for longest is closed when the key opens more. */
  maxPerKey: number
  /** Sessions without a request for this long are closed. */
  idleMs: number
}

/** The open sessions. Each belongs to the API key that opened it. */
export function createSessions<T extends Closable>({ maxPerKey, idleMs }: SessionLimits) {
  const entries = new Map<string, Entry<T>>()

  async function close(id: string): Promise<void> {
    const entry = entries.get(id)
    entries.delete(id)
    await entry?.session.close()
  }

  return {
    async add(id: string, session: T, apiKey: string, now: number): Promise<void> {
      const keyDigest = digest(apiKey)
      const ofKey = [...entries].filter(([, entry]) => entry.keyDigest.equals(keyDigest))
      const [oldest] = ofKey.toSorted(([, one], [, other]) => one.lastUsedAt - other.lastUsedAt)
      entries.set(id, { session, keyDigest, openRequests: 0, lastUsedAt: now })
      if (oldest && ofKey.length >= maxPerKey) await close(oldest[0])
    },

    /** Returns `null` for a session that does not exist or belongs to another key. */
    find(id: string, apiKey: string): T | null {
      const entry = entries.get(id)
      return entry && timingSafeEqual(entry.keyDigest, digest(apiKey)) ? entry.session : null
    },

    /** Records a request of a session. The returned function records its end. */
    use(id: string, now: () => number): () => void {
      const entry = entries.get(id)
      if (!entry) return () => {}
      entry.openRequests += 1
      entry.lastUsedAt = now()
      return () => {
        entry.openRequests -= 1
        entry.lastUsedAt = now()
      }
    },

    close,

    async closeIdle(now: number): Promise<void> {
      const isIdle = ({ openRequests, lastUsedAt }: Entry<T>) => openRequests === 0 && lastUsedAt <= now - idleMs
      await Promise.all([...entries].filter(([, entry]) => isIdle(entry)).map(([id]) => close(id)))
    },

    async closeAll(): Promise<void> {
      await Promise.all([...entries.keys()].map(close))
    },
  }
}

function digest(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest()
}
