import { isIP } from 'node:net'
import { stripInvisible } from '../../domain/shared/text.ts'

const MAX_TYPED_LENGTH = 300
const MAX_NAME_LENGTH = 253
/** The characters of a host name in any script. The URL parser accepts more, and repairs some of them. */
const HOST = '([\\p{L}\\p{M}\\p{N}.-]+)'
const FORMS = [
  // mastodon.social, https://mastodon.social/
  new RegExp(`^(?:https://)?${HOST}(?::443)?/?$`, 'iu'),
  // @user@mastodon.social
  new RegExp(`^@?[\\w.-]+@${HOST}$`, 'iu'),
]
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/**
 * Top-level names without public servers: reserved ones (RFC 2606, 6761, 6762, 7686, 9476) and usual names of private
 * networks.
 */
const PRIVATE_TOP_LEVELS = new Set(
  'alt arpa corp example home i2p internal intranet invalid lan local localdomain localhost onion private test'.split(
    ' ',
  ),
)

/**
 * Returns the https origin of the server that a person typed as a host name, URL or `@user@host`; `null` when it cannot
 * be a public server. A name in another script is converted to punycode.
 */
export function parseServerAddress(typed: string): string | null {
  if (typed.length > MAX_TYPED_LENGTH) return null
  const text = stripInvisible(typed).trim()
  const host = FORMS.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined)
  const name = host === undefined ? null : toPublicName(host)
  return name === null ? null : `https://${name}`
}

function toPublicName(host: string): string | null {
  if (!URL.canParse(`https://${host}`)) return null
  // The parser also converts numbers such as 2130706433 and 0x7f.1 to an IPv4 address.
  const name = new URL(`https://${host}`).hostname.replace(/\.$/, '')
  return isPublicName(name) ? name : null
}

/** Returns whether a host name can be that of a public server. It says nothing about the addresses of the server. */
export function isPublicName(name: string): boolean {
  const labels = name.split('.')
  const topLevel = labels.at(-1)!
  if (isIP(name) !== 0 || name.length > MAX_NAME_LENGTH || labels.length < 2) return false
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(topLevel) && !PRIVATE_TOP_LEVELS.has(topLevel)
}
