import type { ContainerPost } from '../shared/graph/container-store.ts'
import { badParameter, type GraphParams } from '../shared/graph/graph.ts'

const MAX_COLLABORATORS = 3
const MAX_TAGS = 20
const STORY_LIFE_MS = 86_400_000

/** "Stories expire after 24 hours" (IG User Media, limitations, read in September 2026). */
export function hasEnded({ isStory = false, createdAt }: ContainerPost): boolean {
  return isStory && Date.now() - createdAt >= STORY_LIFE_MS
}

/**
 * Reads the parameters besides file and caption, as fields of the post (IG User Media, query string parameters, read in September 2026).
 * @throws GraphRefusal where a parameter does not fit the kind of post
 */
export function readInstagramDetails(params: GraphParams): Record<string, unknown> {
  const type = params.get('media_type')
  const [isReel, isStory, isChild] = [type === 'REELS', type === 'STORIES', params.get('is_carousel_item') === 'true']
  const isVideo = params.get('video_url') !== undefined
  const only = (name: string, fits: boolean) => {
    if (params.get(name) !== undefined && !fits) throw badParameter(`${name} does not fit this kind of media`)
  }
  only('caption', !isStory && !isChild)
  only('alt_text', !isStory && !isVideo)
  only('share_to_feed', isReel)
  only('thumb_offset', isReel)
  only('collaborators', !isStory && !isChild)
  only('user_tags', type !== 'CAROUSEL' && !(isChild && isVideo))
  const share = params.get('share_to_feed')
  if (share !== undefined && !['true', 'false'].includes(share)) throw badParameter('share_to_feed is a boolean')
  const offset = params.get('thumb_offset')
  if (offset !== undefined && !/^\d+$/.test(offset)) throw badParameter('thumb_offset is a number of milliseconds')
  const collaborators = params.get('collaborators') === undefined ? [] : params.list('collaborators')
  if (collaborators.length > MAX_COLLABORATORS) throw badParameter('collaborators takes at most 3 usernames')
  return {
    ...(share !== undefined && { share_to_feed: share === 'true' }),
    ...(offset !== undefined && { thumb_offset: Number(offset) }),
    ...(collaborators.length > 0 && { collaborators }),
    ...(params.get('user_tags') !== undefined && { user_tags: readTags(params, isStory, isVideo) }),
  }
}

/** Positions are "required for images, optional for stories", and apply to these only. */
function readTags(params: GraphParams, isStory: boolean, isVideo: boolean): Record<string, unknown>[] {
  const tags = params.list('user_tags').map((text) => JSON.parse(text) as Record<string, unknown>)
  if (tags.length > MAX_TAGS) throw badParameter('Cannot use more than 20 tags per created media')
  for (const { username, x, y, ...others } of tags) {
    const isName = typeof username === 'string' && /^[\w.]+$/.test(username)
    if (!isName || Object.keys(others).length > 0) throw badParameter('Param user_tags is invalid')
    const [has, lacks] = [[x, y].every(isPart), [x, y].every((one) => one === undefined)]
    if (!(isStory ? has || lacks : isVideo ? lacks : has)) throw badParameter('Param user_tags has a wrong position')
  }
  return tags
}

const isPart = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1
