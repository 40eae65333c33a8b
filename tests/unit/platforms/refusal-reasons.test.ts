import { describe, expect, it } from 'vitest'
import { toError as blueskyRefusal } from '../../../src/platforms/bluesky/errors.ts'
import type { PlatformError } from '../../../src/platforms/errors.ts'
import { FACEBOOK_ERRORS } from '../../../src/platforms/facebook/errors.ts'
import { INSTAGRAM_ERRORS } from '../../../src/platforms/instagram/errors.ts'
import { toError as mastodonRefusal } from '../../../src/platforms/mastodon/errors.ts'
import { createErrorClassifier } from '../../../src/platforms/shared/graph/errors.ts'
import type { HttpResponse } from '../../../src/platforms/shared/http.ts'
import { THREADS_ERRORS } from '../../../src/platforms/threads/errors.ts'
import { toError as tumblrRefusal } from '../../../src/platforms/tumblr/errors.ts'

const CLASSIFIERS: Record<string, (answer: HttpResponse) => PlatformError> = {
  bluesky: blueskyRefusal,
  mastodon: mastodonRefusal,
  tumblr: tumblrRefusal,
  threads: createErrorClassifier('Threads', THREADS_ERRORS),
  facebook: createErrorClassifier('Facebook', FACEBOOK_ERRORS),
  instagram: createErrorClassifier('Instagram', INSTAGRAM_ERRORS),
}

const classify = (platform: string, status: number, body: unknown) =>
  CLASSIFIERS[platform]!({
    status,
    header: () => undefined,
    text: typeof body === 'string' ? body : JSON.stringify(body),
  })

const graph = (fields: object) => ({ error: { type: 'OAuthException', fbtrace_id: 'A1b2', ...fields } })

describe('refusal reasons', () => {
  it.each<[string, number, unknown, string | null, string | null]>([
    ['bluesky', 400, { error: 'InvalidRequest', message: 'Invalid record' }, 'InvalidRequest', 'Invalid record'],
    ['bluesky', 500, { error: 'InternalServerError' }, 'InternalServerError', null],
    ['mastodon', 400, { error: 'Text is too long for this server' }, null, 'Text is too long for this server'],
    ['mastodon', 422, { error: 'Validation failed: <b>Text</b>' }, null, 'Validation failed: Text'],
    [
      'mastodon',
      400,
      { error: 'invalid_grant', error_description: 'The grant is invalid' },
      'invalid_grant',
      'The grant is invalid',
    ],
    [
      'tumblr',
      400,
      {
        meta: { status: 400, msg: 'Bad Request' },
        errors: [{ title: 'Bad Request', code: 8016, detail: 'No blocks' }],
      },
      '8016',
      'No blocks',
    ],
    ['tumblr', 403, { errors: [{ title: 'Forbidden', code: 0 }] }, null, 'Forbidden'],
    ['threads', 400, graph({ code: 100, message: 'Param text is too long' }), '100', 'Param text is too long'],
    [
      'facebook',
      400,
      graph({ code: 100, error_subcode: 99, message: 'Invalid parameter', error_user_msg: 'Choose another picture' }),
      '100/99',
      'Choose another picture',
    ],
    [
      'threads',
      400,
      graph({ code: 1, error_user_title: 'Not accepted.', message: 'The media could not be fetched.' }),
      '1',
      'Not accepted: The media could not be fetched.',
    ],
    ['instagram', 400, graph({ code: 36_004, message: 'The caption is too long' }), '36004', 'The caption is too long'],
  ])("a refusal of %s with %i keeps the platform's reason", (platform, status, body, code, text) => {
    expect(classify(platform, status, body).platformReason).toEqual({ code, text })
  })

  it.each(Object.keys(CLASSIFIERS))("a refusal of %s takes no reason from a proxy's page", (platform) => {
    for (const status of [403, 404, 502]) {
      expect(classify(platform, status, '<html><body>Bad gateway</body></html>').platformReason).toBeNull()
    }
  })

  it.each<[string, (words: string) => unknown]>([
    ['bluesky', (words) => ({ error: 'InvalidRequest', message: words })],
    ['mastodon', (words) => ({ error: words })],
    ['tumblr', (words) => ({ meta: { status: 400, msg: words }, errors: [{ title: words, detail: words, code: 0 }] })],
  ])('the words of a refusal of %s decide nothing', (platform, toBody) => {
    for (const status of [400, 401, 403, 404, 408, 410, 413, 415, 418, 422, 429, 500, 503]) {
      const meanings = WORDS.map((words) => {
        const { class: errorClass, message, certain, needsReconnection } = classify(platform, status, toBody(words))
        return JSON.stringify([errorClass, message, certain, needsReconnection])
      })
      expect([...new Set(meanings)], String(status)).toHaveLength(1)
    }
  })
})

/** Sentences with which servers give their reasons, in the language of their operators. */
const WORDS = [
  'Your login is currently disabled',
  'This action is outside the authorized scopes',
  'Medieninhalte 1 nicht gefunden oder bereits an einen anderen Beitrag angehängt',
  'Media 1 not found or already attached to another post',
  'Cannot attach files that have not finished processing. Try again in a moment!',
  'Error processing thumbnail for uploaded media',
  'Validation failed: Text character limit of 500 exceeded',
  'Invalid app.bsky.feed.post record: Record/text must not be longer than 300 graphemes',
  '本文は500文字までです',
]
