import { Type } from '@sinclair/typebox'
import type { ThreadsOptions } from '../../domain/posts/options.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { responseReader } from '../shared/responses.ts'
import type { GraphParams } from '../shared/graph/api.ts'
import {
  parseContainerState,
  type ContainerContent,
  type ContainerDialect,
  type PulledItem,
} from '../shared/graph/containers.ts'
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
  findWarning({ options: { threads }, replyTo }, response) {
    if (!threads?.crossreshare || replyTo) return undefined
    const status = response?.crossreshare_to_ig_status
    if (status === 'SUCCESS') return undefined
    return status === 'FAILED'
      ? 'Threads could not share the post as a story on Instagram. Check that the profile has a linked Instagram account.'
      : 'Threads did not say whether it shared the post as a story on Instagram. Check it there.'
  },

  toSingleFields: (post, media) => {
    const { text } = post.content
    if (media) return { ...toMediaFields(media), ...toTextFields(text), ...toOptionFields(post) }
    // Threads makes a card of the first link in the text by itself.
    const link = typeof post.link === 'object' ? post.link.url : undefined
    return { media_type: 'TEXT', text, link_attachment: link, ...toOptionFields(post) }
  },
  toChildFields: (media) => ({ ...toMediaFields(media), is_carousel_item: 'true' }),
  toCarouselFields: (post) => ({
    media_type: 'CAROUSEL',
    ...toTextFields(post.content.text),
    ...toOptionFields(post),
  }),

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

const REPLY_CONTROLS: Record<NonNullable<ThreadsOptions['replyControl']>, string> = {
  everyone: 'everyone',
  following: 'accounts_you_follow',
  mentioned: 'mentioned_only',
  followers: 'followers_only',
}

/**
 * Topic tags: https://developers.facebook.com/docs/threads/posts, polls: https://developers.facebook.com/docs/threads/create-posts/polls,
 * reply controls: https://developers.facebook.com/docs/threads/reply-management,
 * stories: https://developers.facebook.com/documentation/threads/create-posts/share-to-ig-stories.
 */
function toOptionFields({ options: { threads = {} }, replyTo }: ContainerContent): GraphParams {
  const { replyControl, topicTag, poll, crossreshare } = threads
  const control = { reply_control: replyControl && REPLY_CONTROLS[replyControl] }
  if (replyTo) return control
  return {
    ...control,
    topic_tag: topicTag,
    poll_attachment: poll && toPollAttachment(poll.options),
    crossreshare_to_ig: crossreshare ? 'true' : undefined,
  }
}

function toPollAttachment(options: string[]): string {
  return JSON.stringify(Object.fromEntries(options.map((option, index) => [`option_${'abcd'[index]}`, option])))
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
