import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { Credentials } from '../contract.ts'
import type { PublicServers } from '../shared/public-servers.ts'
import { readDidDocument, type DidDocument, type Session } from './responses.ts'

interface ServiceOptions {
  entryUrl: string
  publicServers: PublicServers
}

/**
 * Chooses the server to call for an account. The owner controls the DID document, so its URL is used only for the entry
 * and for allowed public servers (docs/design/security.md). Otherwise the entry is called, which forwards.
 */
export function createServiceAddresses({ entryUrl, publicServers }: ServiceOptions) {
  const entryOrigin = new URL(entryUrl).origin

  /** Returns the allowed server in a DID document; `null` when it names none. */
  function findInDocument({ service }: DidDocument): string | null {
    const pds = service.find(({ id, type }) => id.endsWith('#atproto_pds') && type === 'AtprotoPersonalDataServer')
    const address = typeof pds?.serviceEndpoint === 'string' ? trimTrailingSlashes(pds.serviceEndpoint) : ''
    return publicServers.isAllowed(address) ? address : null
  }

  return {
    entryUrl,
    entryOrigin,
    findInDocument,
    /** Returns the server of a stored account. Checks the URL at every use, because it may come from another configuration. */
    resolve: ({ serviceUrl }: Pick<Credentials, 'serviceUrl'>): string =>
      serviceUrl !== undefined && publicServers.isAllowed(serviceUrl) ? serviceUrl : entryUrl,
    /** Returns the server that a new session names in its DID document, or else the one that opened the session. */
    resolveForSession({ didDoc }: Pick<Session, 'didDoc'>, opener: string): string {
      const document = readDidDocument(JSON.stringify(didDoc ?? null))
      return (document && findInDocument(document)) ?? opener
    },
  }
}

export type ServiceAddresses = ReturnType<typeof createServiceAddresses>
