import { Type } from '@sinclair/typebox'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { responseReader } from '../shared/responses.ts'
import type { GraphParams } from '../shared/graph/api.ts'
import { parseContainerState, type ContainerDialect, type PulledItem } from '../shared/graph/containers.ts'
import type { PublishDialect } from '../shared/graph/container-posts.ts'

const stated = Type.Optional(Type.Union([Type.String(), Type.Null()]))

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-container */
const readContainer = responseReader(Type.Object({ id: Type.String(), status_code: stated, status: stated }))

const toCaptionFields = (text: string): GraphParams => ({ caption: text === '' ? undefined : text })

/** https://developers.facebook.com/docs/instagram-platform/content-publishing */
export const instagramDialect: ContainerDialect & PublishDialect = {
  createPath: 'media',
  publishPath: 'media_publish',
  quotaPath: 'content_publishing_limit',
  posts: { listPath: 'media', usageField: 'quota_usage', configField: 'config' },
  textField: 'caption',

  toSingleFields: ({ content: { text } }, media) => ({
    ...(media && toFileFields(media)),
    // A single image has no media type, and a single video is a Reel.
    ...(media && isVideo(media) && { media_type: 'REELS' }),
    ...toCaptionFields(text),
  }),
  toChildFields: (media) => ({
    ...toFileFields(media),
    ...(isVideo(media) && { media_type: 'VIDEO' }),
    is_carousel_item: 'true',
  }),
  toCarouselFields: ({ content: { text } }) => ({ media_type: 'CAROUSEL', ...toCaptionFields(text) }),

  statusFields: 'status_code,status',
  readStatus(text) {
    const container = readContainer(text)
    if (!container) return null
    const { status, status_code: code } = container
    // The text begins with the code in words, as in "Finished: Media has been uploaded".
    const word = status?.split(':')[0]?.trim().toUpperCase().replace(/\s+/g, '_')
    return { state: parseContainerState(code ?? word), ...(status && { problem: status }) }
  },
  problems: [
    [/2207026/, 'does not support the format of a video'],
    [/2207004/, 'refused an image as too large'],
    [/2207005/, 'does not support the format of an image'],
    [/2207009/, 'refused an image: it is too wide or too high'],
    [/2207010/, 'refused the post: its text is too long'],
  ],
}

export const toProfileUrl = (handle: string): string => `https://www.instagram.com/${handle}/`

function isVideo({ item }: PulledItem): boolean {
  return toMediaKind(item.mimeType) === 'video'
}

function toFileFields(media: PulledItem): GraphParams {
  const altText = fitAltText(media.item, POSTING_RULES.instagram)
  if (isVideo(media)) return { video_url: media.url }
  return { image_url: media.url, alt_text: altText === '' ? undefined : altText }
}
