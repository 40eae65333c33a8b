import { SEALED_FIELDS, SecretUnreadableError } from '../../domain/shared/secrets.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { Parts } from '../parts.ts'

const BATCH_SIZE = 200

/** Knows which encryption keys stored secrets need. Reads the secrets once a minute at most. */
export function createSealedSecrets({ sealedValues, cipher, clock }: Parts) {
  let latest: { at: number; counts: Promise<Map<string, number>> } | null = null

  /** Returns the number of secrets by the id of their key. */
  function countByKey(): Promise<Map<string, number>> {
    const now = clock.now().getTime()
    if (latest === null || now - latest.at >= MINUTE) {
      const counts = sealedValues.countByKey()
      latest = { at: now, counts }
      counts.catch(() => (latest = null))
    }
    return latest.counts
  }

  return {
    countByKey,

    /** Returns the ids of needed keys that are not configured. */
    findMissingKeys: async (): Promise<string[]> =>
      [...(await countByKey()).keys()].filter((keyId) => !cipher.hasKey(keyId)),
  }
}

/**
 * Seals all secrets again with the first key. Can run while the service does, and be repeated: a secret that changed since it was read
 * keeps its new value. Leaves secrets that cannot be opened.
 * @returns how many secrets were sealed again, and how many could not be opened
 */
export async function rewrapSecrets({ sealedValues, cipher }: Parts): Promise<{ moved: number; unreadable: number }> {
  const result = { moved: 0, unreadable: 0 }
  for (const field of SEALED_FIELDS) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const values = await sealedValues.list(field, { notBy: cipher.sealingKeyId, after, limit: BATCH_SIZE })
      const resealed = values.flatMap((value) => {
        const context = field.toContext(value.record)
        const plain = openIfReadable(() => cipher.open(value.sealed, context))
        return plain === null ? [] : [{ ...value, resealed: cipher.seal(plain, context) }]
      })
      result.moved += await sealedValues.replace(field, resealed)
      result.unreadable += values.length - resealed.length
      after = values.at(-1)?.record._id
    }
  }
  return result
}

function openIfReadable(open: () => string): string | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null
    throw error
  }
}
