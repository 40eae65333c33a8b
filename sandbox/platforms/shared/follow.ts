import { request } from 'undici'

/**
 * Goes to a callback of the API as a client without a cookie jar does. `fetch` would add headers of a browser, from which the API wants
 * the cookie that it set when the attempt began.
 * @returns where the callback redirects to, or its status when it does not
 */
export async function follow(address: string, signal?: AbortSignal): Promise<string> {
  const { statusCode, headers, body } = await request(address, signal ? { signal } : {})
  await body.dump()
  return [headers['location']].flat()[0] ?? `status ${statusCode}`
}
