import type { Credentials } from '../contract.ts'
import { readDidDocument, type Session } from './responses.ts'

interface ServiceOptions {
  entryUrl: string
  /** Hosts besides the entry's that accounts may live on. A leading dot allows every subdomain. */
  accountHosts: string[]
}

/**
 * Chooses the server to call for an account. The owner controls the DID document, so its URL is used only for the entry
 * host or a configured host (docs/design/security.md). Otherwise the entry is called, which forwards.
 */
export function createServiceAddresses({ entryUrl, accountHosts }: ServiceOptions) {
  const entry = new URL(entryUrl)

  function isAllowed(address: string): boolean {
    if (!URL.canParse(address)) return false
    const url = new URL(address)
    if (url.origin === entry.origin) return true
    return url.protocol === 'https:' && url.port === '' && accountHosts.some((host) => isHost(url.hostname, host))
  }

  return {
    entryUrl,
    /** Returns the server of a stored account. Checks the URL at every use, because it may come from another configuration. */
    resolve: (account: Pick<Credentials, 'serviceUrl'>): string =>
      account.serviceUrl !== undefined && isAllowed(account.serviceUrl) ? account.serviceUrl : entryUrl,
    /** Returns the server that a new session names in its DID document. */
    resolveForSession({ didDoc }: Pick<Session, 'didDoc'>): string {
      const document = readDidDocument(JSON.stringify(didDoc ?? null))
      const pds = document?.service.find(
        ({ id, type }) => id.endsWith('#atproto_pds') && type === 'AtprotoPersonalDataServer',
      )
      const address = pds?.serviceEndpoint
      return typeof address === 'string' && isAllowed(address) ? address : entryUrl
    },
  }
}

export type ServiceAddresses = ReturnType<typeof createServiceAddresses>

function isHost(hostname: string, allowed: string): boolean {
  return allowed.startsWith('.') ? hostname.endsWith(allowed) : hostname === allowed
}
