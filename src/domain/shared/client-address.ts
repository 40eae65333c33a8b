const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|(?=$))){4}$/
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/
/** The longest form: an IPv4-mapped address in brackets, with a zone and a port. */
const MAX_LENGTH = 100
const GROUPS = 8
/** The bits that identify the network of an IPv6 address. Its subscriber chooses the others. */
const SUBSCRIBER_BITS = 64
/** A site with many networks, such as a company or a part of a provider. */
const SITE_BITS = 48
const GROUP_BITS = 16

/**
 * Returns the canonical text of an IP address: IPv6 compressed and in lower case, IPv4-mapped IPv6 as IPv4, without port,
 * brackets or zone. Returns null when the text is not an IP address.
 */
export function normalizeAddress(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  const bare = withoutPort(text.trim())
  if (IPV4.test(bare)) return bare
  const hostname = toIpv6Hostname(bare)
  if (hostname === null) return null
  return toMappedIpv4(parseGroups(hostname)) ?? hostname
}

/**
 * Returns the key by which rate limits count a client. All addresses of an IPv6 /64 share one key, because one subscriber holds
 * them all. Text that is not an IP address is its own key.
 */
export function toNetwork(address: string): string {
  const normalized = normalizeAddress(address) ?? address
  if (!normalized.includes(':')) return normalized
  return toIpv6Network(normalized, SUBSCRIBER_BITS)
}

/**
 * Returns the network of an address for storage. It is coarser than a subscriber: an IPv4 /24 or an IPv6 /48. Null for text that is
 * not an IP address.
 */
export function toCoarseNetwork(address: string): string | null {
  const normalized = normalizeAddress(address)
  if (normalized === null) return null
  if (normalized.includes(':')) return toIpv6Network(normalized, SITE_BITS)
  return `${normalized.split('.').slice(0, 3).join('.')}.0/24`
}

function toIpv6Network(normalized: string, bits: number): string {
  const network = parseGroups(normalized).slice(0, bits / GROUP_BITS)
  return `${network.map((group) => group.toString(16)).join(':')}::/${bits}`
}

function withoutPort(text: string): string {
  const address = BRACKETED.exec(text)?.[1] ?? IPV4_WITH_PORT.exec(text)?.[1] ?? text
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/** Validates and compresses an IPv6 address with the WHATWG host parser. Returns null when it is invalid. */
function toIpv6Hostname(text: string): string | null {
  const url = /^[\da-f:.]+$/i.test(text) && text.includes(':') ? `http://[${text}]/` : ''
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : null
}

/** Returns the eight numbers of an address in the form that `toIpv6Hostname` returns. */
function parseGroups(hostname: string): number[] {
  const [head = '', tail] = hostname.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [numbers(head), numbers(tail ?? '')]
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after]
}

/**
 * Returns the IPv4 address in `::ffff:192.0.2.1`, which a socket that listens on both protocols reports for an IPv4 client. Returns
 * null for any other address.
 */
function toMappedIpv4(groups: number[]): string | null {
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (!isMapped) return null
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
  return bytes.join('.')
}
