import { isWebUrl } from '../../../domain/shared/links.ts'
import { SECOND } from '../../../domain/shared/times.ts'
import type { CallOptions, Credentials } from '../../contract.ts'
import type { GraphApi } from './api.ts'
import { readPermalink } from './responses.ts'

/** Short, so that a slow response leaves time before the deadline. */
export const READ_BACK_MS = 2 * SECOND

/** Reads the URLs of posts. Where a post's own URL is unknown, the URL is that of the profile. */
export function createPostUrls(api: GraphApi, toProfileUrl: (handle: string) => string) {
  const toUrl = (permalink: string | undefined, { handle }: Credentials): string =>
    isWebUrl(permalink) ? permalink : toProfileUrl(handle)

  return {
    toUrl,

    /** Never fails: a failure here must not count as a failure of the post. */
    async fetchUrl(id: string, account: Credentials, { signal }: CallOptions): Promise<string> {
      const call = { token: account.accessToken, signal, timeoutMs: READ_BACK_MS }
      try {
        const path = `/${encodeURIComponent(id)}`
        return toUrl((await api.get(path, { fields: 'permalink' }, readPermalink, call)).permalink, account)
      } catch {
        return toUrl(undefined, account)
      }
    },
  }
}

export type PostUrls = ReturnType<typeof createPostUrls>
