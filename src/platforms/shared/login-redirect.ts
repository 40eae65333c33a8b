import type { HttpResponse } from './http.ts'

/** Parts of the paths of login pages, such as `/login.php`, `/accounts/login`, `/auth/sign_in` and `/checkpoint/…`. */
const LOGIN_PATH = /\b(?:log[-_]?in|sign[-_]?in|checkpoint)\b/i
const LOGIN_HOST = /^(?:login|signin|accounts)\./i

/**
 * Returns whether a call was redirected to a login page, which is how websites refuse a login that has ended. Only servers that prove
 * their names by TLS or run on this machine are called, so no other network can send it.
 */
export function isLoginRedirect(called: URL, { status, header }: Pick<HttpResponse, 'status' | 'header'>): boolean {
  const location = header('location') ?? ''
  if (status < 300 || status > 399 || !URL.canParse(location, called.href)) return false
  const { hostname, pathname } = new URL(location, called)
  return LOGIN_HOST.test(hostname) || LOGIN_PATH.test(pathname)
}
