import { createHmac, hkdfSync } from 'node:crypto'

const LENGTH = 16

/**
 * Creates pseudonyms of email addresses and networks for the log. Equal values get equal pseudonyms, and without the key no
 * reader can search for a value.
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
