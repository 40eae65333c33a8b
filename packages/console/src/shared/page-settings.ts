const metaOf = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** Address of the API without a slash at its end: that of the page itself, unless its server names another one. */
export const apiUrl = (metaOf('api') || location.origin).replace(/\/$/, '')

/** Allows style elements under the page's Content-Security-Policy; empty without a policy. */
export const cspNonce = metaOf('csp-nonce')
