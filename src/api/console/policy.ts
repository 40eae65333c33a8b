/** What the page may reach besides its own origin. */
export interface PageAddresses {
  apiUrl: string
  /** Where files are uploaded to and shown from. */
  storageUrls: string[]
}

/**
 * Returns the Content-Security-Policy of the console's page: scripts and styles only from its own origin, no other host than the API
 * and the storage. The nonce permits the style elements that the page makes.
 */
export function buildPolicy({ apiUrl, storageUrls }: PageAddresses, nonce: string): string {
  const api = new URL(apiUrl).origin
  const storage = [...new Set(storageUrls.map((url) => new URL(url).origin))]
  const shown = ["'self'", 'data:', 'blob:', ...storage]
  const directives: Record<string, string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'", `'nonce-${nonce}'`],
    'img-src': shown,
    'media-src': shown,
    // Some browsers do not count a WebSocket to the own origin as 'self'.
    'connect-src': ["'self'", api, api.replace(/^http/, 'ws'), ...storage],
    'font-src': ["'self'"],
    'manifest-src': ["'self'"],
    'form-action': ["'self'"],
    'base-uri': ["'none'"],
    'frame-ancestors': ["'none'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join('; ')
}
