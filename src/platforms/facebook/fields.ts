import type { Checkpoints, OutgoingPost } from '../contract.ts'
import type { GraphParams } from '../shared/graph/api.ts'
import { isWithoutLink } from './checkpoints.ts'
import { getVideoUrl, toAttachedMedia } from './files.ts'
import { findPreviewLink } from './links.ts'

/** The content of a post for `feed`. */
export function toFeedFields(post: OutgoingPost, checkpoints: Checkpoints): GraphParams {
  const { text } = post.content
  const photos = toAttachedMedia(post, checkpoints)
  return {
    message: text === '' ? undefined : text,
    link: photos.length > 0 || isWithoutLink(checkpoints) ? undefined : findPreviewLink(post),
    attached_media: photos.length > 0 ? JSON.stringify(photos) : undefined,
    fields: 'id,permalink_url',
  }
}

/** The content of a post for `videos`. Facebook fetches the file during the call, and processes it afterwards. */
export function toVideoFields({ content: { text } }: OutgoingPost, checkpoints: Checkpoints): GraphParams {
  return { file_url: getVideoUrl(checkpoints), description: text === '' ? undefined : text }
}
