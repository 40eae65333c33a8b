import { Type } from '@sinclair/typebox'
import type { UserTag } from '../../domain/posts/options.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
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

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-container */
const readContainer = responseReader(Type.Object({ id: Type.String(), status_code: stated, status: stated }))

const toCaptionFields = (text: string): GraphParams => ({ caption: text === '' ? undefined : text })

/** https://developers.facebook.com/docs/instagram-platform/content-publishing */
export const instagramDialect: ContainerDialect & PublishDialect = {
  createPath: 'media',
  publishPath: 'media_publish',
  quotaPath: 'content_publishing_limit',
  posts: { listPath: 'media', usageField: 'quota_usage', configField: 'config' },
  // https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/stories
  storiesPath: 'stories',
  textField: 'caption',

  toSingleFields(post, media) {
    if (!media) return toCaptionFields(post.content.text)
    const fields = { ...toFileFields(media, post), ...toTagFields(post, 0) }
    if (isStory(post)) return { ...fields, media_type: 'STORIES' }
    // A single image has no media type, and a single video is a Reel.
    const reel = isVideo(media) && { media_type: 'REELS', ...toReelFields(post) }
    return { ...fields, ...reel, ...toCaptionFields(post.content.text), ...toCollaboratorFields(post) }
  },
  toChildFields: (media, post, index) => ({
    ...toFileFields(media, post),
    ...(isVideo(media) && { media_type: 'VIDEO' }),
    ...toTagFields(post, index),
    is_carousel_item: 'true',
  }),
  toCarouselFields: (post) => ({
    media_type: 'CAROUSEL',
    ...toCaptionFields(post.content.text),
    ...toCollaboratorFields(post),
  }),

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

const isStory = ({ options: { instagram } }: ContainerContent): boolean => instagram?.kind === 'story'

function toReelFields({ options: { instagram } }: ContainerContent): GraphParams {
  const { coverAt, shareToFeed } = instagram ?? {}
  return {
    thumb_offset: coverAt === undefined ? undefined : String(Math.round(coverAt * SECOND)),
    share_to_feed: shareToFeed === undefined ? undefined : String(shareToFeed),
  }
}

function toCollaboratorFields({ options: { instagram } }: ContainerContent): GraphParams {
  const { collaborators = [] } = instagram ?? {}
  return { collaborators: collaborators.length > 0 ? JSON.stringify(collaborators) : undefined }
}

/** The tags in one item of the post. */
function toTagFields({ options: { instagram } }: ContainerContent, index: number): GraphParams {
  const tags = (instagram?.userTags ?? []).filter(({ mediaItem = 0 }) => mediaItem === index)
  const toTag = ({ mediaItem: _, ...tag }: UserTag) => tag
  return { user_tags: tags.length > 0 ? JSON.stringify(tags.map(toTag)) : undefined }
}

function toFileFields(media: PulledItem, post: ContainerContent): GraphParams {
  if (isVideo(media)) return { video_url: media.url }
  const altText = isStory(post) ? '' : fitAltText(media.item, POSTING_RULES.instagram)
  return { image_url: media.url, alt_text: altText === '' ? undefined : altText }
}
