import type { IncomingHttpHeaders } from 'node:http'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || host === '::1'
}

export interface AllowedCallers {
  /** Host names besides those of the loopback interface, without ports. */
  hosts: readonly string[]
  /** Origins of web pages, such as `https://app.example.com`. */
  origins: readonly string[]
}

/**
 * Returns why the request is refused; `null` when it is not. A web page can point its own host name to this machine (DNS rebinding),
 * so host and origin are both compared with a list, as the MCP specification requires.
 */
export function findForbiddenHeader(headers: IncomingHttpHeaders, { hosts, origins }: AllowedCallers): string | null {
  const host = parseHostName(headers.host)
  if (host === null || ![...LOOPBACK_NAMES, ...hosts].includes(host)) {
    return 'This host name is not allowed. Start the server with --allow-host to allow it.'
  }
  if (headers.origin !== undefined && !origins.includes(headers.origin)) {
    return 'This origin is not allowed. Start the server with --allow-origin to allow it.'
  }
  return null
}

function parseHostName(host: string | undefined): string | null {
  return host !== undefined && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : null
}

/** Returns the API key of the request; `null` without a well-formed one. */
export function parseBearer({ authorization }: IncomingHttpHeaders): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null
}
