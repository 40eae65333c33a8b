import type { CallOptions, Credentials, OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toJsonBody } from '../shared/calls.ts'
import { toTokenPair } from './accounts.ts'
import { toBlogPath, type Api } from './api.ts'
import { findUploadedMedia, formatText, toMediaBlock, toPostBody } from './content.ts'
import { readCreated, readPost } from './responses.ts'

interface EditDeps {
  api: Api
  publishTimeoutMs: number
}

/**
 * Edits published posts (https://www.tumblr.com/docs/en/api/v2#postspost-id---editing-a-post-neue-post-format). An edit replaces the whole
 * content, so it repeats the images and videos as Tumblr has them.
 */
export function createPlanEdit({ api, publishTimeoutMs: timeoutMs }: EditDeps) {
  return async function planEdit(
    id: string,
    { content: { text }, options: { tumblr } }: Pick<OutgoingPost, 'content' | 'options'>,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<(() => Promise<void>) | null> {
    const path = toBlogPath(account, `posts/${encodeURIComponent(id)}`)
    const token = toTokenPair(account)
    const post = await api.send({ method: 'GET', path }, readPost, { token, signal })
    const { content: blocks = [] } = post
    const formatted = formatText(text)
    const shown = blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []))
    if (JSON.stringify(shown) === JSON.stringify(formatted.blocks.map((block) => block.text))) return null
    const files = blocks.filter(({ type }) => type !== 'text')
    if (files.some(({ type }) => type !== 'image' && type !== 'video')) {
      const message = 'The post has parts on Tumblr that this service did not publish, and an edit would remove them'
      throw new PlatformError('validation', message, { certain: true })
    }
    const uploaded = findUploadedMedia(post, files.length)
    if (!uploaded) {
      throw new PlatformError('media_not_ready', 'Tumblr is still processing the media of the post', { certain: true })
    }
    const media = files.map(({ type, alt_text: altText = '' }, index) =>
      toMediaBlock(type === 'video' ? 'video' : 'image', uploaded[index]!, altText),
    )
    const state = tumblr?.state ?? 'published'
    const body = toJsonBody(toPostBody(formatted, media, { state, options: tumblr }))
    return async () => void (await api.send({ method: 'PUT', path, body }, readCreated, { token, signal, timeoutMs }))
  }
}
