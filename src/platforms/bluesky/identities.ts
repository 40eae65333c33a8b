import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions } from '../contract.ts'
import type { HttpClient } from '../shared/http.ts'
import type { PublicServers } from '../shared/public-servers.ts'
import { readDidDocument, readResolvedHandle, type DidDocument } from './responses.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import type { Xrpc } from './xrpc.ts'

interface IdentityDeps {
  http: HttpClient
  xrpc: Xrpc
  services: ServiceAddresses
  publicServers: PublicServers
  /** The directory of `did:plc`; absent: all logins start at the entry. */
  directoryUrl: string | undefined
}

/** An account on another server than the entry. */
export interface Identity {
  did: string
  service: string
}

/** A login does not wait longer for a directory that is slow. */
const TIMEOUT_MS = 3 * SECOND
const PLC_DID = /^did:plc:[a-z2-7]{24}$/
const WEB_DID = /^did:web:([A-Za-z0-9.-]+(?:%3A\d+)?)$/

/** Finds the server of an account from its handle or DID (https://atproto.com/specs/did). */
export function createIdentities({ http, xrpc, services, publicServers, directoryUrl }: IdentityDeps) {
  /** Returns `null` for accounts of the entry, and whenever the server cannot be found: then the entry decides. */
  async function find(identifier: string, { signal }: CallOptions): Promise<Identity | null> {
    if (directoryUrl === undefined || (identifier.includes('@') && !identifier.startsWith('did:'))) return null
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) }
    try {
      const did = identifier.startsWith('did:') ? identifier : await resolveHandle(identifier, options)
      const document = await fetchDocument(did, options)
      const service = document?.id === did ? services.findInDocument(document) : null
      return service === null || service === services.entryOrigin ? null : { did, service }
    } catch {
      return null
    }
  }

  async function resolveHandle(handle: string, options: CallOptions): Promise<string> {
    const call = { service: services.entryUrl, nsid: 'com.atproto.identity.resolveHandle', params: { handle } }
    return (await xrpc.query(call, readResolvedHandle, options)).did
  }

  async function fetchDocument(did: string, { signal }: CallOptions): Promise<DidDocument | null> {
    const url = toDocumentUrl(did)
    if (!url) return null
    const { status, text } = await http.send({ method: 'GET', url, headers: { accept: 'application/json' }, signal })
    return status === 200 ? readDidDocument(text) : null
  }

  /** Returns `null` for other kinds of DIDs, which Bluesky does not support. */
  function toDocumentUrl(did: string): URL | null {
    if (PLC_DID.test(did)) return new URL(`${trimTrailingSlashes(directoryUrl!)}/${did}`)
    const host = WEB_DID.exec(did)?.[1]
    return host === undefined ? null : new URL('/.well-known/did.json', publicServers.parse(decodeURIComponent(host)))
  }

  return { find }
}

export type Identities = ReturnType<typeof createIdentities>
