import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Table } from '../../platforms/shared/tables.ts'
import { refused } from './errors.ts'
import type { StoredResponse } from './records.ts'

const KEY_LIFE_MS = 24 * 3_600_000
const LONGEST_KEY = 255

interface IdempotencyDeps {
  answers: Table<StoredResponse>
  /** How long a call takes, and its key is in use, milliseconds. */
  workMs: number
}

type Done = Omit<StoredResponse, 'key' | 'fingerprint' | 'at'>

/** Runs each call once per key and returns the same response for a day. */
export function createIdempotency({ answers, workMs }: IdempotencyDeps) {
  const inUse = new Set<string>()

  function forgetOld(now: number): void {
    for (const { key, at } of answers.values()) if (now - at >= KEY_LIFE_MS) answers.delete(key)
  }

  return async function once(key: string, request: unknown, work: () => Done): Promise<Done & { isReplay: boolean }> {
    if (key.length > LONGEST_KEY) {
      throw refused(400, { type: 'idempotency_error', message: 'Idempotency keys can be at most 255 characters long.' })
    }
    if (inUse.has(key)) {
      throw refused(409, {
        type: 'idempotency_error',
        code: 'idempotency_key_in_use',
        message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
      })
    }
    const now = Date.now()
    const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('hex')
    forgetOld(now)
    const earlier = answers.get(key)
    if (earlier && earlier.fingerprint !== fingerprint) {
      throw refused(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    if (earlier) return { ...earlier, isReplay: true }
    inUse.add(key)
    try {
      const done = work()
      answers.set(key, { ...done, key, fingerprint, at: now })
      await delay(workMs, undefined, { ref: false })
      return { ...done, isReplay: false }
    } finally {
      inUse.delete(key)
    }
  }
}
