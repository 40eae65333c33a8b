import { lookup as resolveName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface ResolvedAddress {
  address: string
  family: number
}

/** Returns all addresses of a host name. */
export type ResolveName = (hostname: string) => Promise<ResolvedAddress[]>

/** A name may have any number of addresses; trying more of them only delays the failure. */
const MAX_ADDRESSES = 8
/** The only IPv6 addresses that are assigned for the public internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** A host name has no public address. The message does not say what it resolved to. */
export class NoPublicAddressError extends Error {
  constructor() {
    super('The server has no public address')
    this.name = 'NoPublicAddressError'
  }
}

/** Returns whether an IP address is globally routable unicast, and does not embed another address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_IPV6)
}

type LookupWithCallback = (...args: Parameters<LookupFunction>) => Promise<void>

export const resolveWithSystem: ResolveName = (hostname) => resolveName(hostname, { all: true })

/**
 * Returns the public addresses of a host name.
 * @throws NoPublicAddressError, and the errors of the resolver
 */
export async function resolvePublic(resolve: ResolveName, hostname: string): Promise<ResolvedAddress[]> {
  const addresses = (await resolve(hostname)).filter(({ address }) => isPublicAddress(address))
  if (addresses.length === 0) throw new NoPublicAddressError()
  return addresses.slice(0, MAX_ADDRESSES)
}

/**
 * Creates the `lookup` of a socket. The socket connects to an address that this function returned, so a name that
 * resolves differently afterwards changes nothing. Sockets do not call it for IP addresses.
 */
export function createPublicLookup(resolve: ResolveName): LookupFunction {
  const publicLookup: LookupWithCallback = async (hostname, { all }, callback) => {
    let addresses: ResolvedAddress[]
    try {
      addresses = await resolvePublic(resolve, hostname)
    } catch (error) {
      return callback(error as NodeJS.ErrnoException, '', 0)
    }
    return all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)
  }
  return (...args) => void publicLookup(...args)
}
