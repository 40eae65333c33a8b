import type { CallOptions, Credentials, OutgoingPost } from '../contract.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { readSuccess } from '../shared/graph/responses.ts'
import { readMessage } from './responses.ts'

interface EditDeps {
  api: GraphApi
  publishTimeoutMs: number
}

/** Edits the message of posts that this application has published (https://developers.facebook.com/docs/pages-api/posts#update-a-post). */
export function createPlanEdit({ api, publishTimeoutMs: timeoutMs }: EditDeps) {
  return async function planEdit(
    id: string,
    { content: { text } }: Pick<OutgoingPost, 'content'>,
    { accessToken: token }: Credentials,
    { signal }: CallOptions,
  ): Promise<(() => Promise<void>) | null> {
    const path = `/${encodeURIComponent(id)}`
    const { message = '' } = await api.get(path, { fields: 'id,message' }, readMessage, { token, signal })
    if (normalize(message) === normalize(text)) return null
    return async () => void (await api.post(path, { message: text }, readSuccess, { token, signal, timeoutMs }))
  }
}

const normalize = (text: string): string => text.replace(/\r\n?/g, '\n').trim()
