import { join } from 'node:path'
import { readJson, writeJson } from '../json-file.ts'
import type { Crowd } from '../shared/crowd.ts'
import { inWordsOf } from '../shared/metric-words.ts'

/** Settings of the AppView. */
export interface AppViewKnobs {
  /** How far it lags behind, milliseconds. */
  lagMs: number
  /** Posts that it hides although they exist, for instance because of a block. */
  hidden: Set<string>
}

/** Counts set through the fault proxy's control interface. */
export interface AppViewCounts {
  postCounts(uri: string, post: { text: string; publishedAt: number }): Record<string, number>
  accountCounts(did: string): Record<string, number>
  setPostCounts(uri: string, counts: Record<string, number>): void
  setAccountCounts(did: string, counts: Record<string, number>): void
}

type Counts = Record<string, number>

const POST_WORDS = {
  likes: 'likeCount',
  shares: 'repostCount',
  reposts: 'repostCount',
  comments: 'replyCount',
  replies: 'replyCount',
  quotes: 'quoteCount',
  saved: 'bookmarkCount',
  bookmarks: 'bookmarkCount',
}
const ACCOUNT_WORDS = { followers: 'followersCount', follows: 'followsCount' }
const NO_POST_COUNTS = { likeCount: 0, repostCount: 0, replyCount: 0, quoteCount: 0, bookmarkCount: 0 }

export function openAppViewCounts(dir: string, knobs: AppViewKnobs, crowd: Crowd): AppViewCounts {
  const path = join(dir, 'counts.json')
  const counts = readJson<Record<string, Counts>>(path, {})
  /** The counts that are shown until the lag has passed. */
  const before = new Map<string, { counts: Counts; until: number }>()

  function visible(id: string): Counts {
    const last = before.get(id)
    return last && last.until > Date.now() ? last.counts : (counts[id] ?? {})
  }

  function set(id: string, given: Counts): void {
    before.set(id, { counts: visible(id), until: Date.now() + knobs.lagMs })
    counts[id] = { ...counts[id], ...given }
    writeJson(path, counts)
  }

  return {
    postCounts: (uri, post) => ({
      ...NO_POST_COUNTS,
      ...inWordsOf(POST_WORDS, crowd.countsOf(post, Date.now() - knobs.lagMs)),
      ...visible(uri),
    }),
    accountCounts: (did) => ({ followersCount: crowd.followers(Date.now()), followsCount: 0, ...visible(did) }),
    setPostCounts: (uri, given) => set(uri, inWordsOf(POST_WORDS, given)),
    setAccountCounts: (did, given) => set(did, inWordsOf(ACCOUNT_WORDS, given)),
  }
}
