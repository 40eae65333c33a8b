import { HOUR, SECOND } from '../../domain/shared/times.ts'
import type { GraphRule } from '../shared/graph/errors.ts'

/** Refusals that the adapter handles itself. */
export const REPEATED = 'repeated'
export const PHOTO_GONE = 'photo-gone'
export const PHOTO_USED = 'photo-used'
export const LINK_REFUSED = 'link-refused'

/** Refusals of the code exchange: connecting again with more permissions would not help. */
const LOGIN_REFUSED = { class: 'permission', connectReason: 'LOGIN_REFUSED' } as const
const BAD_LOGIN = { ...LOGIN_REFUSED, message: 'does not accept this login' } as const
const BAD_CLIENT = { ...LOGIN_REFUSED, message: 'no longer knows this service' } as const
/** The message for a wrong app secret. Facebook answers it with code 1, so `accounts.ts` has to find it out. */
export const UNKNOWN_SERVICE = `Facebook ${BAD_CLIENT.message}`
const BLOCKED = { class: 'blocked_by_platform' } as const
/** The post matters more than the preview of its link, so it is sent again without one. */
const NO_PREVIEW = {
  class: 'media_not_ready',
  message: 'made no preview of the link, so the post is published without one',
  kind: LINK_REFUSED,
  waitMs: SECOND,
} as const
const BAD_IMAGE = { class: 'validation', message: 'refused an image: it is too large or of another type' } as const
const NOT_FETCHED = { class: 'media_fetch_failed', message: 'could not fetch an image or video' } as const
const TEMPORARY_PROBLEM = { class: 'transient', message: 'has a temporary problem' } as const

/** https://developers.facebook.com/docs/graph-api/guides/error-handling; checked before the codes of all hosts. */
export const FACEBOOK_ERRORS: readonly GraphRule[] = [
  { code: 100, subcode: 36_007, ...BAD_LOGIN },
  { code: 100, subcode: 36_008, ...BAD_LOGIN },
  { code: 100, subcode: 36_009, ...BAD_LOGIN },
  { code: 101, ...BAD_CLIENT },
  {
    code: 190,
    subcode: 459,
    class: 'unauthorized',
    message: 'asks for a confirmation: log in there, then connect it again',
  },
  {
    code: 190,
    subcode: 492,
    class: 'unauthorized',
    message: 'reports that the person who connected this page no longer has a role on it',
  },
  {
    code: 100,
    subcode: 1_366_051,
    class: 'duplicate',
    message: 'has a post with these images already',
    kind: PHOTO_USED,
  },
  // Facebook states the parameter only in the message.
  {
    code: 100,
    name: 'attached_media',
    class: 'media_not_ready',
    message: 'no longer has an image, so it is uploaded again',
    kind: PHOTO_GONE,
    waitMs: SECOND,
  },
  { subcode: 1_609_005, ...NO_PREVIEW },
  { subcode: 1_609_008, ...NO_PREVIEW },
  { code: 100, subcode: 1_500, ...NO_PREVIEW },
  { code: 324, subcode: 1_366_046, ...BAD_IMAGE },
  { subcode: 1_366_046, ...BAD_IMAGE },
  { subcode: 2_069_019, ...NOT_FETCHED },
  { code: 324, ...NOT_FETCHED },
  { code: 389, ...NOT_FETCHED },
  { code: 352, class: 'validation', message: 'does not support the format of a video' },
  { subcode: 1_363_047, ...TEMPORARY_PROBLEM },
  { subcode: 1_609_010, ...TEMPORARY_PROBLEM },
  { subcode: 1_346_003, ...BLOCKED, message: 'refused the post by its community standards' },
  { subcode: 1_404_102, ...BLOCKED, message: 'refused the post by its community standards' },
  {
    subcode: 1_404_078,
    ...BLOCKED,
    message: 'asks for an authorization to publish as this page: log in there to give it',
  },
  {
    code: 368,
    subcode: 1_390_008,
    class: 'rate_limited',
    message: 'reports that this page posts too fast',
    waitMs: HOUR,
  },
  { code: 368, ...BLOCKED, message: 'does not let this page post at the moment: log in there to see why' },
  {
    code: 506,
    class: 'duplicate',
    message: 'rejects the same text twice in a row',
    kind: REPEATED,
  },
  { code: 803, class: 'not_found', message: 'does not have the requested object' },
]
