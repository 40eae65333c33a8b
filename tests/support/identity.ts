import { NEW_ACCOUNT } from '../../sandbox/platforms/shared/consent.ts'

interface Choice {
  /** The id of an account at the provider. Without it, the form's name and email make a new account. */
  account?: string
  decision?: 'allow' | 'deny'
  email?: string
  name?: string
  verified?: boolean
}

/**
 * Signs in with a browser on the page of the sandbox's identity provider at `address`.
 * @returns where the provider sends the browser in the end
 */
export async function signInAtProvider(address: string, choice: Choice = {}): Promise<string> {
  const { origin } = new URL(address)
  const cookies = new Map<string, string>()

  /** Follows redirects until one leaves the provider; `response` is null then. */
  async function visit(url: string, init: RequestInit = {}): Promise<{ url: string; response: Response | null }> {
    if (new URL(url).origin !== origin) return { url, response: null }
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    return location === null ? { url, response } : visit(new URL(location, url).href)
  }

  const page = await visit(address)
  if (!page.response) return page.url
  const { account = NEW_ACCOUNT, decision = 'allow', email = '', name = '', verified = true } = choice
  const form = new URLSearchParams({ account, decision, email, name, ...(verified && { verified: 'yes' }) })
  const result = await visit(page.url, { method: 'POST', body: form })
  if (result.response) {
    throw new Error(`The provider returned ${result.response.status}: ${await result.response.text()}`)
  }
  return result.url
}
