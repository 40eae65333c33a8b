import { SECOND } from '../../domain/shared/times.ts'
import { CONTAINER_GONE } from '../shared/graph/containers.ts'
import type { GraphRule } from '../shared/graph/errors.ts'

const GONE = { class: 'media_not_ready', message: 'no longer has the prepared post', kind: CONTAINER_GONE } as const
const NOT_FETCHED = { class: 'media_fetch_failed', message: 'could not fetch an image or video' } as const

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes */
export const INSTAGRAM_ERRORS: readonly GraphRule[] = [
  { code: -2, subcode: 2_207_003, ...NOT_FETCHED },
  { code: -2, subcode: 2_207_020, ...GONE, waitMs: SECOND },
  { code: -1, subcode: 2_207_001, class: 'transient', message: 'has a temporary problem', certain: false },
  { code: -1, subcode: 2_207_032, class: 'transient', message: 'could not accept the post' },
  { code: -1, subcode: 2_207_053, class: 'media_fetch_failed', message: 'could not accept an image or video' },
  { code: 1, subcode: 2_207_057, class: 'validation', message: 'found no frame of the video at the time of the cover' },
  { code: 4, subcode: 2_207_051, class: 'blocked_by_platform', message: 'blocked the post as unwanted' },
  { code: 9, subcode: 2_207_042, class: 'rate_limited', message: 'accepts no more posts from this account today' },
  { code: 24, subcode: 2_207_006, ...GONE, waitMs: 30 * SECOND },
  { code: 24, subcode: 2_207_008, ...GONE, waitMs: 30 * SECOND },
  {
    code: 25,
    subcode: 2_207_050,
    class: 'blocked_by_platform',
    message: 'has restricted this account: log in there to see why',
  },
  {
    code: 100,
    subcode: 2_108_006,
    class: 'permission',
    message: 'reports nothing for posts from before the account became professional',
  },
  { code: 100, subcode: 2_207_028, class: 'validation', message: 'takes 2 to 10 images and videos in a carousel' },
  { code: 100, subcode: 2_207_040, class: 'validation', message: 'takes at most 20 mentions in a post' },
  { code: 352, subcode: 2_207_026, class: 'validation', message: 'does not support the format of a video' },
  { code: 9_004, subcode: 2_207_052, ...NOT_FETCHED },
  {
    code: 9_007,
    subcode: 2_207_027,
    class: 'media_not_ready',
    message: 'is still processing the post',
    waitMs: 5 * SECOND,
  },
  { code: 36_000, class: 'validation', message: 'refused an image as too large' },
  { code: 36_001, class: 'validation', message: 'does not support the format of an image' },
  { code: 36_003, class: 'validation', message: 'refused an image: it is too wide or too high' },
  { code: 36_004, class: 'validation', message: 'refused the post: its text is too long' },
  { subcode: 2_207_082, class: 'media_fetch_failed', message: 'could not accept an image or video' },
]
