import { expect, it } from 'vitest'
import * as codes from '../../../src/domain/shared/service-error.ts'
import * as deliveryMoves from '../../../src/domain/posts/delivery-moves.ts'
import { EXPIRING_MS } from '../../../src/domain/accounts/account-health.ts'
import * as captions from '../../../src/domain/captions/captions.ts'
import { MAX_AVATAR_BYTES } from '../../../src/domain/media/storage-keys.ts'
import { CODE_LIFE_MS, MAIL_LIFE_MS, RESET_LIFE_MS } from '../../../src/domain/notifications/mails.ts'
import { PUSH_LIFE_MS } from '../../../src/domain/notifications/push.ts'
import { MAX_POST_TEXT_BYTES } from '../../../src/domain/posts/post-size.ts'
import * as rules from '../../../src/domain/posts/posting-rules.ts'
import { TIMELINE_LENGTH } from '../../../src/domain/posts/timeline.ts'
import { REDIRECT_LIFETIME_MS } from '../../../src/domain/shared/redirects.ts'
import { KNOWN_DEVICE_MS } from '../../../src/domain/users/login-throttle.ts'

it('every error code has its documented HTTP status', () => {
  const statuses = codes.SERVICE_ERROR_CODES.map((code) => [code, new codes.ServiceError(code, '').statusCode])
  expect(Object.fromEntries(statuses)).toMatchSnapshot()
})

it('the posting rules of the platforms are the documented ones', () => {
  expect(rules.POSTING_RULES).toMatchSnapshot()
})

it('the limits and times of the service are the documented ones', () => {
  expect({
    tries: deliveryMoves.MAX_TRIES,
    reconcileWaitsMs: deliveryMoves.RECONCILE_WAITS_MS,
    expiringMs: EXPIRING_MS,
    captions: [captions.CAPTIONS_PER_REQUEST, captions.MAX_CAPTION_LENGTH],
    avatarBytes: MAX_AVATAR_BYTES,
    mailLifeMs: [CODE_LIFE_MS, RESET_LIFE_MS, MAIL_LIFE_MS],
    pushLifeMs: PUSH_LIFE_MS,
    postTextBytes: MAX_POST_TEXT_BYTES,
    textLength: rules.MAX_TEXT_LENGTH,
    mediaItems: rules.MAX_MEDIA_ITEMS,
    uploadBytes: rules.MAX_UPLOAD_BYTES,
    imagePixels: rules.MAX_IMAGE_PIXELS,
    timelineLength: TIMELINE_LENGTH,
    redirectMs: REDIRECT_LIFETIME_MS,
    knownDeviceMs: KNOWN_DEVICE_MS,
  }).toMatchSnapshot()
})
