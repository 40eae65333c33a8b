import { CLOCK_TOLERANCE_MS, listSince } from '../shared/list-since.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost, SearchOptions, NotFoundResult } from '../contract.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { hasDifferentWords, normalizeWhitespace } from '../shared/text-difference.ts'
import { isNoLongerInFlight, type InFlightTimes } from '../shared/in-flight.ts'
import { searchRestored } from '../shared/restored-search.ts'
import { readPosts, readVideos } from './responses.ts'
import { isVideo, LIFE_MS, listUploadedPhotos } from './files.ts'
import { findPreviewLink } from './links.ts'

interface SearchDeps {
  api: GraphApi
  times: InFlightTimes & {
    /** The minimum for videos, which appear only after Facebook has processed them. */
    videoInFlightMs: number
  }
}

/** A post or video of the page. */
interface Candidate {
  id: string
  /** Other ids under which it may be stored: a video and its post have different ids. */
  otherIds: string[]
  text: string
  photoIds: string[]
  createdAt: number
  /** Also false when Facebook does not report it; any comment counts as a change. */
  isUnchanged: boolean
  permalink: string | undefined
}

const PAGE = 25
const MAX_PAGES = 8
const POST_FIELDS =
  'id,message,created_time,updated_time,permalink_url,attachments{media_type,target{id},subattachments{media_type,target{id}}}'
const VIDEO_FIELDS = 'id,description,created_time,permalink_url,published'

/**
 * Searches the page's own posts or videos for what a direct call published, or what a restored delivery may have published
 * (docs/design/exactly-once.md).
 */
export function createSearch({ api, times }: SearchDeps) {
  return async function search(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<{ id: string; permalink: string | undefined } | NotFoundResult> {
    const { isRestored } = options
    // A published draft may keep the time at which it was created.
    const since = delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS - (isRestored ? LIFE_MS : 0)
    const list = isVideo(post) ? loadVideos : loadPosts
    const { found, isComplete } = await listSince({
      since,
      maxPages: MAX_PAGES,
      toTime: ({ createdAt }: Candidate) => createdAt,
      load: (after) => list(account, after, options),
    })
    if (!isComplete) return 'undecidable'
    const candidates: Candidate[] = []
    for (const one of found) if (!(await isTakenPost(one, options))) candidates.push(one)
    if (isRestored) {
      const { content } = post
      const comparison = { content, toId, toText, isSame: (one: Candidate) => hasSameContent(one, post) }
      return searchRestored(candidates, comparison, { isTaken: async () => false })
    }
    // Of equal matches the oldest is taken; the others belong to posts that are reconciled later.
    const match = candidates.toReversed().find((one) => isSamePost(one, post, delivery))
    // guard: search in page
    if (match) return match
    const inFlightMs = isVideo(post) ? times.videoInFlightMs : times.inFlightMs
    if (!isNoLongerInFlight(options, false, { ...times, inFlightMs })) return 'in-flight'
    return candidates.some((one) => couldBeSamePost(one, post)) ? 'undecidable' : 'absent'
  }

  async function loadPosts(
    { accountId, accessToken }: Credentials,
    after: string | undefined,
    { signal }: SearchOptions,
  ) {
    const path = `/${encodeURIComponent(accountId)}/published_posts`
    const params = { fields: POST_FIELDS, limit: String(PAGE), after }
    const { data, paging } = await api.get(path, params, readPosts, { token: accessToken, signal })
    const found = data.map(
      ({ id, message = '', created_time, updated_time, permalink_url, attachments }): Candidate => {
        const shown = (attachments?.data ?? []).flatMap((one) => [one, ...(one.subattachments?.data ?? [])])
        const listIds = (type: string) =>
          shown.flatMap(({ media_type, target }) => (media_type === type && target?.id ? [target.id] : []))
        return {
          id,
          otherIds: listIds('video'),
          text: message,
          photoIds: listIds('photo'),
          createdAt: Date.parse(created_time),
          isUnchanged: updated_time === created_time,
          permalink: permalink_url,
        }
      },
    )
    return { found, next: paging?.next && paging.cursors?.after }
  }

  async function loadVideos(
    { accountId, accessToken }: Credentials,
    after: string | undefined,
    { signal }: SearchOptions,
  ) {
    const path = `/${encodeURIComponent(accountId)}/videos`
    const params = { fields: VIDEO_FIELDS, limit: String(PAGE), after }
    const { data, paging } = await api.get(path, params, readVideos, { token: accessToken, signal })
    const published = data.filter((video) => video.published !== false)
    const found = published.map(({ id, description = '', created_time, permalink_url }): Candidate => ({
      id,
      otherIds: [],
      text: description,
      photoIds: [],
      createdAt: Date.parse(created_time),
      // A video's text may appear later than the video.
      isUnchanged: false,
      permalink: permalink_url,
    }))
    return { found, next: paging?.next && paging.cursors?.after }
  }
}

async function isTakenPost({ id, otherIds }: Candidate, { isTaken }: SearchOptions): Promise<boolean> {
  for (const one of [id, ...otherIds]) if (await isTaken(one)) return true
  return false
}

const toId = ({ id }: Candidate): string => id
const toText = ({ text }: Candidate): string => text

/** The photos of a restored delivery may have been uploaded again since the backup, so their number decides. */
function hasSameContent({ text, photoIds }: Candidate, post: OutgoingPost): boolean {
  return hasSameText(text, post) && photoIds.length === (isVideo(post) ? 0 : post.content.mediaItems.length)
}

const hasSameText = (text: string, { content }: OutgoingPost): boolean =>
  normalizeWhitespace(text) === normalizeWhitespace(content.text)

/** A photo that we uploaded appears only in our post, whatever its text. Without photos the text decides. */
function isSamePost(
  { text, photoIds, otherIds }: Candidate,
  post: OutgoingPost,
  delivery: DeliveryCheckpoints,
): boolean {
  const uploaded = isVideo(post) ? [] : listUploadedPhotos(post, delivery).filter((id) => id !== null)
  if (uploaded.length > 0) return uploaded.some((id) => photoIds.includes(id))
  // A link to a video shows that video as an attachment, too.
  if (photoIds.length > 0 || (otherIds.length > 0 && !findPreviewLink(post))) return false
  return hasSameText(text, post)
}

/** An unexplained post may be this post with changed text, unless it is known to be unchanged. */
function couldBeSamePost({ isUnchanged, text }: Candidate, { content }: OutgoingPost): boolean {
  return !(isUnchanged && hasDifferentWords(text, content.text))
}
