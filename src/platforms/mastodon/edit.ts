import type { CallOptions, Credentials, OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toJsonBody } from '../shared/calls.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import type { Api } from './api.ts'
import { readEditableStatus } from './responses.ts'
import { fetchSource, hasText } from './search.ts'

interface EditDeps {
  api: Api
  publishTimeoutMs: number
}

/**
 * Edits statuses (https://docs.joinmastodon.org/methods/statuses/#edit). An edit removes the media and the warning that it leaves out, so it
 * repeats them as they are.
 */
export function createPlanEdit({ api, publishTimeoutMs: timeoutMs }: EditDeps) {
  return async function planEdit(
    id: string,
    { content: { text } }: Pick<OutgoingPost, 'content'>,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<(() => Promise<void>) | null> {
    const token = account.accessToken
    const path = `/api/v1/statuses/${encodeURIComponent(id)}`
    /** Returns the status; null when it shows the text. @throws PlatformError `not_found` */
    async function findUnedited() {
      const { body: status } = await api.get(path, {}, readEditableStatus, { token, signal })
      return hasText(status, await fetchSource(api, status, account, { signal }), text) ? null : status
    }
    const status = await findUnedited()
    if (!status) return null
    if (status.poll) {
      throw new PlatformError('validation', 'An edit would restart the poll of the post', { certain: true })
    }
    const { media_attachments: files, spoiler_text, sensitive, language } = status
    const edited = {
      ...{ status: text, media_ids: files.map((file) => file.id) },
      ...{ spoiler_text: spoiler_text ?? '', sensitive: sensitive ?? false },
      ...(language && { language }),
    }
    return async () => {
      try {
        await api.put(path, toJsonBody(edited), readEditableStatus, { token, signal, timeoutMs })
      } catch (error) {
        if (!isRefusedAs(error, 'missing')) throw error
        // Of servers without edits as well.
        if (!(await findUnedited())) return
        throw new PlatformError('validation', 'This server edits no posts', { certain: true, cause: error })
      }
    }
  }
}
