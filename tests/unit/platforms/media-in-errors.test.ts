import { expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { PlatformAdapter } from '../../../src/platforms/contract.ts'
import type { PlatformError } from '../../../src/platforms/errors.ts'
import { instrumentPlatforms } from '../../../src/platforms/instrumented.ts'
import { INSTAGRAM_ERRORS } from '../../../src/platforms/instagram/errors.ts'
import { createErrorClassifier } from '../../../src/platforms/shared/graph/errors.ts'
import { waitUntilProcessed } from '../../../src/platforms/shared/processing.ts'
import { toError as tumblrRefusal } from '../../../src/platforms/tumblr/errors.ts'
import { partial } from '../../support/partial.ts'

const recorder = { platformStep: () => {}, platformFailed: () => {}, reconciled: () => {} }
const { signal } = new AbortController()

/** Returns the message of a failure of a post with files of these types. */
async function messageFor(types: string[], fail: () => Promise<void>): Promise<string> {
  const adapter = partial<PlatformAdapter>({ platform: 'threads', prepare: fail })
  const registry: { find(platform: Platform): PlatformAdapter | null } = { find: () => adapter }
  const { prepare } = instrumentPlatforms(registry, recorder).find('threads')!
  const mediaItems = types.map((mimeType) => ({ storageKey: 'k', storageUrl: 'u', mimeType }))
  const account = { accountId: 'a', handle: 'h', accessToken: 'token', version: 1 }
  const checkpoints = { get: () => undefined, save: async () => {} }
  try {
    await prepare(
      { postId: 'p', kind: 'post', options: {}, content: { text: 'Hi', mediaItems } },
      account,
      checkpoints,
      { signal },
    )
  } catch (error) {
    return (error as PlatformError).message
  }
  throw new Error('It did not fail')
}

const processing = () => waitUntilProcessed<void>(async () => null, { label: 'Threads', waitMs: 0, signal })
const refusal = (error: PlatformError) => () => Promise.reject(error)
const answer = (status: number, body: object) => ({ status, header: () => undefined, text: JSON.stringify(body) })

it.each([
  [[], 'the post'],
  [['image/png'], 'the image'],
  [['image/png', 'image/jpeg'], 'an image'],
  [['video/mp4'], 'the video'],
  [['video/mp4', 'video/mp4'], 'a video'],
  [['image/png', 'video/mp4'], 'an image or video'],
])('a failure of a post with %j names %s', async (types, name) => {
  expect(await messageFor(types, processing)).toBe(`Threads is still processing ${name}`)
  const instagram = createErrorClassifier(
    'Instagram',
    INSTAGRAM_ERRORS,
  )(answer(400, { error: { type: 'OAuthException', code: 9_004, error_subcode: 2_207_052, message: 'm' } }))
  expect(await messageFor(types, refusal(instagram))).toBe(`Instagram could not fetch ${name}`)
  const tumblr = tumblrRefusal(answer(413, { meta: { status: 413, msg: 'Too large' }, errors: [] }))
  expect(await messageFor(types, refusal(tumblr))).toBe(`Tumblr refused ${name} as too large`)
})
