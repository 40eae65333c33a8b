import { MINUTE } from '../../domain/shared/times.ts'
import type { Parts } from '../parts.ts'

/** Finds encryption keys that stored logins need and that are not configured. Reads the logins once a minute at most. */
export function createMissingKeys({ accounts, cipher, clock }: Parts): () => Promise<string[]> {
  let latest: { at: number; keyIds: Promise<string[]> } | null = null

  async function read(): Promise<string[]> {
    return (await accounts.listKeyIds()).filter((keyId) => !cipher.hasKey(keyId))
  }

  return () => {
    const now = clock.now().getTime()
    if (latest === null || now - latest.at >= MINUTE) {
      const keyIds = read()
      latest = { at: now, keyIds }
      keyIds.catch(() => (latest = null))
    }
    return latest.keyIds
  }
}
