import { createHmac, hkdfSync } from 'node:crypto'

const LENGTH = 16

/**
 * Stands for a mail address or a network in the log: equal values get equal pseudonyms, and without the key nobody can search for one.
 */
export function createPseudonyms(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'pseudonyms in the log', 32))
  return (kind: 'account' | 'network', value: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, value]))
      .digest('base64url')
      .slice(0, LENGTH)
}

export type Pseudonyms = ReturnType<typeof createPseudonyms>
