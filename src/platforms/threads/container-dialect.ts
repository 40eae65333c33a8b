import { Type } from '@sinclair/typebox'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { responseReader } from '../shared/responses.ts'
import type { GraphParams } from '../shared/graph/api.ts'
import { parseContainerState, type ContainerDialect, type PulledItem } from '../shared/graph/containers.ts'
import type { PublishDialect } from '../shared/graph/container-posts.ts'

const stated = Type.Optional(Type.Union([Type.String(), Type.Null()]))

/** https://developers.facebook.com/docs/threads/troubleshooting#publishing-does-not-return-a-media-id */
const readContainer = responseReader(
  Type.Object({
    id: Type.String(),
    status: stated,
    error_message: stated,
  }),
)

const toTextFields = (text: string): GraphParams => ({ text: text === '' ? undefined : text })

/** https://developers.facebook.com/docs/threads/posts */
export const threadsDialect: ContainerDialect & PublishDialect = {
  createPath: 'threads',
  // https://developers.facebook.com/documentation/threads/retrieve-and-manage-replies/create-replies
  replyField: 'reply_to_id',
  publishPath: 'threads_publish',
  quotaPath: 'threads_publishing_limit',
  posts: { listPath: 'threads', usageField: 'quota_usage', configField: 'config' },
  replies: { listPath: 'replies', usageField: 'reply_quota_usage', configField: 'reply_config' },
  textField: 'text',

  toSingleFields: ({ content: { text }, link }, media) => {
    if (media) return { ...toMediaFields(media), ...toTextFields(text) }
    // Threads makes a card of the first link in the text by itself.
    return { media_type: 'TEXT', text, link_attachment: typeof link === 'object' ? link.url : undefined }
  },
  toChildFields: (media) => ({ ...toMediaFields(media), is_carousel_item: 'true' }),
  toCarouselFields: ({ text }) => ({ media_type: 'CAROUSEL', ...toTextFields(text) }),

  statusFields: 'status,error_message',
  readStatus(text) {
    const container = readContainer(text)
    if (!container) return null
    const { status, error_message: problem } = container
    return { state: parseContainerState(status), ...(problem && { problem }) }
  },
  problems: [
    [/ASPEC(T)?_RATIO/, 'refused an image or video: it is too wide or too high'],
    [/DURATION/, 'refused the video: it is too long'],
    [/BIT_RATE|FRAME_RATE|AUDIO_CHANNEL/, 'refused the video: its encoding is not supported'],
  ],
}

export const toProfileUrl = (handle: string): string => `https://www.threads.net/@${handle}`

function toMediaFields({ item, url }: PulledItem): GraphParams {
  const altText = fitAltText(item, POSTING_RULES.threads)
  const file =
    toMediaKind(item.mimeType) === 'video'
      ? { media_type: 'VIDEO', video_url: url }
      : { media_type: 'IMAGE', image_url: url }
  return { ...file, alt_text: altText === '' ? undefined : altText }
}
