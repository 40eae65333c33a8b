import { MINUTE } from '../../domain/shared/times.ts'
import type { Credentials, DeliveryLog, OutgoingPost, SearchOptions, Untraced } from '../contract.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { areOtherWords } from '../shared/other-words.ts'
import { isSettled, type SettleTimes } from '../shared/settling.ts'
import { readPosts, readVideos } from './responses.ts'
import { isVideo, uploadedPhotos } from './files.ts'
import { previewedLink } from './links.ts'

interface SearchDeps {
  api: GraphApi
  times: SettleTimes & {
    /** The least for videos, which nobody sees before Facebook has done its work on them. */
    videoSettleMs: number
  }
}

/** A post or video of the page. */
interface Candidate {
  id: string
  /** By what else it may be on record: a video is by its own id, and its post by another. */
  otherIds: string[]
  text: string
  photoIds: string[]
  createdAt: number
  /** False also where Facebook does not tell: any comment counts as a change. */
  isUnchanged: boolean
  permalink: string | undefined
}

/** By how much Facebook's clock and ours may differ; it tells seconds only. */
const CLOCK_TOLERANCE_MS = MINUTE
const PAGE = 25
const MOST_PAGES = 8
const POST_FIELDS =
  'id,message,created_time,updated_time,permalink_url,attachments{media_type,target{id},subattachments{media_type,target{id}}}'
const VIDEO_FIELDS = 'id,description,created_time,permalink_url'

/** Looks for what an earlier call published among the page's own posts or videos (design section 6). */
export function createSearch({ api, times }: SearchDeps) {
  return async function search(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    options: SearchOptions,
  ): Promise<{ id: string; permalink: string | undefined } | Untraced> {
    const since = delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS
    const list = isVideo(post) ? videosFrom : postsFrom
    const found = await newest(since, (after) => list(account, after, options))
    if (!found) return 'undecidable'
    const candidates: Candidate[] = []
    for (const one of found) if (!(await isExplained(one, options))) candidates.push(one)
    // Of several alike the oldest: the others belong to posts that are yet to be looked for.
    const match = candidates.toReversed().find((one) => isOurs(one, post, delivery))
    // guard: search in page
    if (match) return match
    const settleMs = isVideo(post) ? times.videoSettleMs : times.settleMs
    if (!isSettled(options, false, { ...times, settleMs })) return 'unsettled'
    return candidates.some((one) => mayHaveBeen(one, post)) ? 'undecidable' : 'absent'
  }

  /** Newest first; null when there are too many to look through. */
  async function newest(
    since: number,
    load: (after: string | undefined) => Promise<{ found: Candidate[]; next: string | undefined }>,
  ): Promise<Candidate[] | null> {
    const all: Candidate[] = []
    let after: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const { found, next } = await load(after)
      const recent = found.filter(({ createdAt }) => !(createdAt < since))
      all.push(...recent)
      if (next === undefined || recent.length < found.length) return all
      after = next
    }
    return null
  }

  async function postsFrom(
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
        const idsOf = (type: string) =>
          shown.flatMap(({ media_type, target }) => (media_type === type && target?.id ? [target.id] : []))
        return {
          id,
          otherIds: idsOf('video'),
          text: message,
          photoIds: idsOf('photo'),
          createdAt: Date.parse(created_time),
          isUnchanged: updated_time === created_time,
          permalink: permalink_url,
        }
      },
    )
    return { found, next: paging?.next && paging.cursors?.after }
  }

  async function videosFrom(
    { accountId, accessToken }: Credentials,
    after: string | undefined,
    { signal }: SearchOptions,
  ) {
    const path = `/${encodeURIComponent(accountId)}/videos`
    const params = { fields: VIDEO_FIELDS, limit: String(PAGE), after }
    const { data, paging } = await api.get(path, params, readVideos, { token: accessToken, signal })
    const found = data.map(({ id, description = '', created_time, permalink_url }): Candidate => ({
      id,
      otherIds: [],
      text: description,
      photoIds: [],
      createdAt: Date.parse(created_time),
      // A video's words may come after it.
      isUnchanged: false,
      permalink: permalink_url,
    }))
    return { found, next: paging?.next && paging.cursors?.after }
  }
}

async function isExplained({ id, otherIds }: Candidate, { isTaken }: SearchOptions): Promise<boolean> {
  for (const one of [id, ...otherIds]) if (await isTaken(one)) return true
  return false
}

/** A photo that we uploaded stands in no post but ours, whatever became of the words; else the words have to tell. */
function isOurs({ text, photoIds, otherIds }: Candidate, post: OutgoingPost, delivery: DeliveryLog): boolean {
  const uploaded = isVideo(post) ? [] : uploadedPhotos(post, delivery).filter((id) => id !== null)
  if (uploaded.length > 0) return uploaded.some((id) => photoIds.includes(id))
  // A link to a video somewhere shows one, too.
  if (photoIds.length > 0 || (otherIds.length > 0 && !previewedLink(post.content.text))) return false
  return words(text) === words(post.content.text)
}

/** Whatever nothing explains may be this very post with its words changed, unless nobody changed them. */
function mayHaveBeen({ isUnchanged, text }: Candidate, { content }: OutgoingPost): boolean {
  return !(isUnchanged && areOtherWords(text, content.text))
}

/** White space may be moved, and no more. */
function words(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
