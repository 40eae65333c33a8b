import type { Credentials } from '../contract.ts'
import { readDidDocument, type Session } from './responses.ts'

interface ServiceOptions {
  entryUrl: string
  /** Hosts besides the entry's that accounts may live on; one that begins with a dot stands for every host below it. */
  accountHosts: string[]
}

/**
 * Which server to call for an account. Its DID document names one, but that document is its owner's to write: an address is followed
 * only to the entry host itself or a configured one (safety.md section 5). Otherwise the entry is called, which forwards.
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
    /** Checked again at every use: what is stored may come from another configuration. */
    of: (account: Pick<Credentials, 'serviceUrl'>): string =>
      account.serviceUrl !== undefined && isAllowed(account.serviceUrl) ? account.serviceUrl : entryUrl,
    ofSession({ didDoc }: Pick<Session, 'didDoc'>): string {
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
