import type { GraphRule } from '../shared/graph/errors.ts'
import { CONTAINER_GONE } from '../shared/graph/containers.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** https://developers.facebook.com/docs/threads/troubleshooting/error-codes; checked before the codes of all hosts. */
export const THREADS_ERRORS: readonly GraphRule[] = [
  {
    code: 24,
    subcode: 4_279_009,
    class: 'media_not_ready',
    message: 'is still processing the post',
    waitMs: 5 * SECOND,
  },
  { subcode: 4_279_013, class: 'blocked_by_platform', message: 'has restricted this account: log in there to see why' },
  { subcode: 2_207_051, class: 'blocked_by_platform', message: 'blocked the post as unwanted' },
  { subcode: 2_207_052, class: 'media_fetch_failed', message: 'could not fetch an image or video' },
  // The error has this name and no code of its own.
  { name: 'THREADS_API__LINK_LIMIT_EXCEEDED', class: 'validation', message: 'takes at most 5 links in a post' },
  {
    code: 24,
    class: 'media_not_ready',
    message: 'no longer has the prepared post',
    kind: CONTAINER_GONE,
    waitMs: SECOND,
  },
]
