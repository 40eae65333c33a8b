import manifest from '../../package.json' with { type: 'json' }
import type { Config } from './schema.ts'

/** Returns the URL of a page about this service. */
export function toContactUrl({ CONTACT_URL, PUBLIC_URL }: Pick<Config, 'CONTACT_URL' | 'PUBLIC_URL'>): string {
  return new URL(CONTACT_URL || PUBLIC_URL).href
}

/** Returns the User-Agent of every outgoing call: name, version and a page about this service (RFC 9110 section 10.1.5). */
export function toUserAgent({ CONTACT_URL, PUBLIC_URL }: Pick<Config, 'CONTACT_URL' | 'PUBLIC_URL'>): string {
  return `${manifest.name}/${manifest.version} (+${toContactUrl({ CONTACT_URL, PUBLIC_URL })})`
}
