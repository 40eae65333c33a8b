import type { LookupFunction } from 'node:net'
import { raceAbort } from '../../flow/deadlines.ts'
import type { CallOptions } from '../contract.ts'
import { PlatformError, ServerNotAllowedError } from '../errors.ts'
import {
  createPublicLookup,
  NoPublicAddressError,
  resolvePublic,
  resolveWithSystem,
  type ResolveName,
} from './public-lookup.ts'
import { parseServerAddress } from './server-address.ts'

export interface PublicServersOptions {
  /** The operator's own choice of servers with accounts. They are called wherever they are. */
  configured: readonly string[]
  /** Other services of the operator's choice. They are called wherever they are, but users cannot name them. */
  services?: readonly string[]
  /** Origins on private networks that users may name all the same. The port `*` means every port. */
  allowedPrivate?: readonly string[]
  /** Host names that users may name; a leading dot includes all subdomains. Empty: every public server. */
  only?: readonly string[]
  resolve?: ResolveName
}

/** Decides to which servers an HTTP client connects, and how. */
export interface ServerGuard {
  /** Returns whether a server is called wherever it is. */
  isTrusted(origin: string): boolean
  /** Resolves the names of all other servers. */
  lookup: LookupFunction
}

const NOT_PUBLIC = 'This is not the address of a public server. Enter the name of the server, such as mastodon.social.'
const NOT_LISTED = 'Accounts on this server cannot be connected here. Choose another server.'
const ANY_PORT = ':*'
/** Error codes of the resolver for names without addresses. */
const UNKNOWN_NAME = ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']

/**
 * The rules for servers that users name (docs/design/security.md#servers-that-users-name): https on port 443, a public
 * name, a public address at every connection.
 */
export function createPublicServers(options: PublicServersOptions) {
  const { configured, services = [], allowedPrivate = [], only = [], resolve = resolveWithSystem } = options
  const named = new Set(allowedPrivate.filter((origin) => !origin.endsWith(ANY_PORT)).map(toOrigin))
  /** The allowed origins with any port, without it. */
  const namedHosts = allowedPrivate
    .filter((origin) => origin.endsWith(ANY_PORT))
    .map((origin) => new URL(origin.slice(0, -ANY_PORT.length)))
  /** Servers that users may name without being public. */
  const chosen = new Set([...configured.map(toOrigin), ...named])
  const trusted = new Set([...chosen, ...services.map(toOrigin)])

  function hasNamedHost(url: string): boolean {
    if (!URL.canParse(url)) return false
    const { origin, protocol, hostname, port } = new URL(url)
    const isNamed = namedHosts.some((named) => named.protocol === protocol && named.hostname === hostname)
    return isNamed && origin === url && port !== ''
  }

  /** Returns whether users may name a server although it may be private. */
  const isChosen = (origin: string) => chosen.has(origin) || hasNamedHost(origin)
  const isTrusted = (origin: string) => trusted.has(origin) || hasNamedHost(origin)

  function isListed(origin: string): boolean {
    const { hostname } = new URL(origin)
    return only.length === 0 || only.some((host) => isHost(hostname, host))
  }

  /** Returns the origin of a chosen server if the text is its URL, or the host of an allowed private server. */
  function findChosen(typed: string): string | null {
    const text = typed.trim()
    const byHost = [...named].find((origin) => new URL(origin).host === text)
    if (byHost !== undefined) return byHost
    const byAnyPort = namedHosts.map(({ protocol }) => `${protocol}//${text}`).find(hasNamedHost)
    if (byAnyPort !== undefined) return byAnyPort
    if (!/^https?:\/\/[^\s@?#\\]+$/i.test(text) || !URL.canParse(text)) return null
    const { origin, pathname } = new URL(text)
    return pathname === '/' && isChosen(origin) ? origin : null
  }

  /**
   * Returns the origin of the server that a user named.
   * @throws ServerNotAllowedError
   */
  function parse(typed: string): string {
    const origin = findChosen(typed) ?? parseServerAddress(typed)
    if (origin === null) throw new ServerNotAllowedError(NOT_PUBLIC)
    if (!isChosen(origin) && !isListed(origin)) throw new ServerNotAllowedError(NOT_LISTED)
    return origin
  }

  /** Returns whether a URL is the origin of a server that users may name. Makes no call. */
  function isAllowed(url: string): boolean {
    if (isChosen(url)) return true
    return parseServerAddress(url) === url && isListed(url)
  }

  /**
   * Checks that a server has a public address now. A private name and an unknown one fail alike, so the error does not
   * reveal names of private networks.
   * @throws ServerNotAllowedError; PlatformError `transient` when the name cannot be resolved now
   */
  async function assertPublic(origin: string, { signal }: CallOptions): Promise<void> {
    if (isTrusted(origin)) return
    try {
      await raceAbort(resolvePublic(resolve, new URL(origin).hostname), signal)
    } catch (cause) {
      const isUnknown = UNKNOWN_NAME.includes((cause as NodeJS.ErrnoException).code ?? '')
      if (isUnknown || cause instanceof NoPublicAddressError) throw new ServerNotAllowedError(NOT_PUBLIC, { cause })
      throw new PlatformError('transient', 'The name of the server could not be resolved', { certain: true, cause })
    }
  }

  const guard: ServerGuard = { isTrusted, lookup: createPublicLookup(resolve) }
  return { parse, isAllowed, assertPublic, guard }
}

export type PublicServers = ReturnType<typeof createPublicServers>

const toOrigin = (url: string): string => new URL(url).origin

function isHost(hostname: string, allowed: string): boolean {
  return allowed.startsWith('.') ? hostname.endsWith(allowed) : hostname === allowed
}
