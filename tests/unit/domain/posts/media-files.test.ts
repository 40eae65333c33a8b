import { describe, expect, it } from 'vitest'
import {
  correctTypes,
  findFileProblem,
  nameFile,
  withoutFileName,
  type MediaFile,
} from '../../../../src/domain/posts/media-files.ts'
import { preflight } from '../../../../src/domain/posts/preflight.ts'
import { PLATFORMS, type Platform } from '../../../../src/domain/shared/platforms.ts'
import { toPreflightTarget } from '../../../support/preflight-target.ts'

const item = { storageKey: 'posts/u/1.jpg', storageUrl: 'u', mimeType: 'image/jpeg', originalFilename: 'cat.jpg' }
const video = { ...item, mimeType: 'video/mp4' }
const readable = (facts: object = {}): MediaFile => ({
  state: 'readable',
  facts: { mimeType: 'image/jpeg', sizeBytes: 9, ...facts },
})
const film = (facts: object = {}) => readable({ mimeType: 'video/mp4', codec: 'avc', ...facts })

function check(platforms: readonly Platform[], file: MediaFile, { of = item, scheduledAt = null as Date | null } = {}) {
  const post = { content: { text: 'x', mediaItems: [of] }, platformSpecificContent: {}, scheduledAt }
  const { errors, warnings } = preflight(
    post,
    platforms.map((platform) => toPreflightTarget(platform)),
    new Map([[item.storageKey, file]]),
  )
  return { errors, warnings, codes: errors.map(({ code }) => code) }
}

describe('the file of a media item', () => {
  it('a file that was never uploaded refuses an immediate post, and warns of a scheduled one, once for all platforms', () => {
    const missing = {
      path: 'content.mediaItems.0',
      code: 'MEDIA_MISSING',
      message: expect.stringContaining('“cat.jpg”'),
    }
    expect(check(PLATFORMS, { state: 'missing' })).toMatchObject({ errors: [missing], warnings: [] })
    expect(check(PLATFORMS, { state: 'missing' }, { scheduledAt: new Date() })).toMatchObject({
      errors: [],
      warnings: [missing],
    })
  })

  it('an unusable file refuses every post, also a scheduled one', () => {
    const unusable: MediaFile = { state: 'unusable', problem: 'is cut off. Upload the whole file.' }
    for (const scheduledAt of [null, new Date()]) {
      expect(check(['bluesky', 'tumblr'], unusable, { scheduledAt })).toMatchObject({
        errors: [{ code: 'MEDIA_UNUSABLE', message: 'The file “cat.jpg” is cut off. Upload the whole file.' }],
        warnings: [],
      })
    }
  })

  it('a video that is declared an image is refused, and the reverse', () => {
    expect(check(['tumblr'], film()).codes).toContain('MEDIA_UNUSABLE')
    expect(check(['tumblr'], readable(), { of: video }).errors.at(-1)).toMatchObject({
      message: expect.stringContaining('is image/jpeg, not video/mp4 as declared'),
    })
  })

  it('a file that could not be read, or only in part, is a warning', () => {
    for (const file of [{ state: 'unread' } as const, { ...film(), isPartial: true } as MediaFile]) {
      expect(check(['tumblr'], file, { of: video })).toMatchObject({
        errors: [],
        warnings: [{ code: 'MEDIA_UNCHECKED' }],
      })
    }
  })

  it('the properties of the file replace what the client stated', () => {
    const stated = { ...item, sizeBytes: 1, width: 1, height: 1 }
    expect(check(['bluesky'], readable({ pixels: 50_000_000 }), { of: stated }).codes).toEqual(['IMAGE_TOO_LARGE'])
    expect(
      check(['mastodon'], film({ sizeBytes: 200_000_000 }), { of: { ...video, sizeBytes: 1 } as typeof item }).codes,
    ).toEqual(['MEDIA_TOO_LARGE'])
    expect(check(['bluesky'], film({ mimeType: 'video/quicktime' }), { of: video }).codes).toEqual(['MEDIA_TYPE'])
  })

  it.each([
    ['bluesky', 600],
    ['threads', 300],
    ['instagram', 900],
    ['facebook', 14_400],
    ['tumblr', 600],
  ] as const)('%s takes videos of up to %i seconds', (platform, max) => {
    expect(check([platform], film({ duration: max }), { of: video }).codes).toEqual([])
    expect(check([platform], film({ duration: max + 0.1 }), { of: video }).codes).toEqual(['VIDEO_TOO_LONG'])
  })

  it('the message says the limit and the length', () => {
    expect(check(['threads'], film({ duration: 300.2 }), { of: video }).errors[0]!.message).toBe(
      'Threads takes videos of at most 5 min, and this one has 5 min 1 s. Shorten it.',
    )
  })

  it('instagram takes videos from three seconds on', () => {
    expect(check(['instagram'], film({ duration: 2.9 }), { of: video }).codes).toEqual(['VIDEO_TOO_SHORT'])
    expect(check(['instagram'], film({ duration: 3 }), { of: video }).codes).toEqual([])
  })

  it.each(PLATFORMS)('a codec that %s does not document is refused where the platform documents some', (platform) => {
    const documents = ['threads', 'instagram', 'facebook'].includes(platform)
    for (const codec of ['avc', 'hevc']) expect(check([platform], film({ codec }), { of: video }).codes).toEqual([])
    expect(check([platform], film({ codec: 'vp9' }), { of: video }).codes).toEqual(documents ? ['VIDEO_CODEC'] : [])
  })

  it('a video with more pixels than Mastodon takes is refused with a shape that fits', () => {
    const shape = { width: 2_160, height: 4_096, pixels: 2_160 * 4_096 }
    expect(check(['mastodon'], film(shape), { of: video }).errors).toMatchObject([
      {
        code: 'VIDEO_TOO_LARGE',
        message:
          'Mastodon takes videos of at most 8294400 pixels a frame, such as 2160 × 3840, and this one has 2160 × 4096. Export it in a smaller size.',
      },
    ])
    expect(check(['mastodon'], film({ width: 3_840, height: 2_160 }), { of: video }).codes).toEqual([])
  })

  it.each(['threads', 'instagram'] as const)('%s takes videos of up to 1,920 pixels in width', (platform) => {
    const codesAt = (width: number) => check([platform], film({ width, height: 2_400 }), { of: video }).codes
    expect([codesAt(1_920), codesAt(1_921)]).toEqual([[], ['VIDEO_TOO_LARGE']])
  })

  it.each([
    ['mastodon', undefined, 120],
    ['threads', 23, 60],
    ['instagram', 23, 60],
  ] as const)('%s takes videos of %s to %i frames a second, without the fraction', (platform, min, max) => {
    const codesAt = (frameRate: number) => check([platform], film({ frameRate }), { of: video }).codes
    for (const rate of [max, max + 0.9, min ?? 1, 23.976]) expect(codesAt(rate)).toEqual([])
    for (const rate of [max + 1, ...(min ? [min - 0.1] : [])]) expect(codesAt(rate)).toEqual(['VIDEO_FRAME_RATE'])
    expect(check([platform], film({ frameRate: max * 2 }), { of: video }).errors[0]!.message).toContain(
      `this one has ${max * 2}. Export it with another frame rate.`,
    )
  })

  it.each(PLATFORMS)(
    'a video on %s with its index at the end is a warning where the platform asks for another order',
    (platform) => {
      const asks = ['threads', 'instagram'].includes(platform)
      expect(check([platform], film({ isIndexFirst: false }), { of: video })).toMatchObject({
        errors: [],
        warnings: asks ? [{ path: 'content.mediaItems.0', code: 'VIDEO_INDEX_LAST', platform }] : [],
      })
      for (const facts of [{ isIndexFirst: true }, {}]) {
        expect(check([platform], film(facts), { of: video }).warnings).toEqual([])
      }
    },
  )

  it.each(PLATFORMS)('an animated image on %s is a warning', (platform) => {
    expect(check([platform], readable({ isAnimated: true }))).toMatchObject({
      errors: [],
      warnings: [{ path: 'content.mediaItems.0', code: 'ANIMATION_LOST', platform }],
    })
  })
})

it('the type of the file replaces the declared one everywhere in a post, within its kind', () => {
  const files = new Map([[item.storageKey, readable({ mimeType: 'image/webp' })]])
  const post = {
    content: { text: '', mediaItems: [item, { ...item, storageKey: 'other' }] },
    platformSpecificContent: { bluesky: { mediaItems: [item] }, threads: { text: 'a' } },
    accountSpecificContent: { id: { mediaItems: [video] } },
  }
  const webp = { ...item, mimeType: 'image/webp' }
  expect(correctTypes(post, files)).toEqual({
    content: { text: '', mediaItems: [webp, { ...item, storageKey: 'other' }] },
    platformSpecificContent: { bluesky: { mediaItems: [webp] }, threads: { text: 'a' } },
    accountSpecificContent: { id: { mediaItems: [video] } },
  })
})

it('the files of a thread get their real types as well', () => {
  const webp = { ...item, mimeType: 'image/webp' }
  const files = new Map([[item.storageKey, readable({ mimeType: 'image/webp' })]])
  const thread = (one: typeof item) => ({ segments: [{ text: 'b', mediaItems: [one] }] })
  const post = {
    content: { text: 'a', mediaItems: [], ...thread(item) },
    platformSpecificContent: { bluesky: thread(item) },
  }
  expect(correctTypes(post, files)).toEqual({
    content: { text: 'a', mediaItems: [], ...thread(webp) },
    platformSpecificContent: { bluesky: thread(webp) },
  })
})

it.each(['cat.png', 'a ” is. b', '“” ', 'line\nend.png'])(
  'the reason of a file named %j is shown without its name',
  (name) => {
    const sentence = findFileProblem({ ...item, originalFilename: name }, { state: 'missing' })!
    expect(withoutFileName(sentence)).toBe('A file of the post was never uploaded, or is gone')
  },
)

it('any other sentence has no file name to remove', () => {
  expect(withoutFileName('The platform failed. Try again.')).toBeNull()
  expect(nameFile({ storageKey: 'posts/u/1.jpg', storageUrl: '', mimeType: '' })).toBe('The file “1.jpg”')
})
