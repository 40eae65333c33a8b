import { request } from 'undici'

/**
 * Opens a callback of the API as a client without a cookie jar does. `fetch` would add browser headers, for which the
 * API requires the cookie of the login.
 * @returns the callback's redirect, or its status without one
 */
export async function follow(address: string, signal?: AbortSignal): Promise<string> {
  const { statusCode, headers, body } = await request(address, signal ? { signal } : {})
  await body.dump()
  return [headers['location']].flat()[0] ?? `status ${statusCode}`
}
