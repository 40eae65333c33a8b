import { describe, expect, it, vi } from 'vitest'
import {
  findSchedulingProblem,
  preflight,
  SCHEDULED_IN_PAST,
  type PreflightInput,
} from '../../../../src/domain/posts/preflight.ts'
import { PLATFORMS, type Platform } from '../../../../src/domain/shared/platforms.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { toPreflightTarget } from '../../../support/preflight-target.ts'

const media = (count: number, mimeType = 'image/jpeg') =>
  Array.from({ length: count }, () => ({ storageKey: 'k', storageUrl: 'u', mimeType }))

function check(
  platforms: Platform | Platform[],
  content: Partial<PreflightInput['content']>,
  more: Partial<PreflightInput> = {},
) {
  const post = { content: { text: 'x', mediaItems: [], ...content }, platformSpecificContent: {}, ...more }
  return preflight(
    post,
    [platforms].flat().map((platform) => toPreflightTarget(platform)),
  )
}
const codes = (...args: Parameters<typeof check>) => check(...args).errors.map(({ code }) => code)

describe('limited parts of a text', () => {
  const words = (count: number, word: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => word(i)).join(' ')
  const tag = (index: number) => `#tag${index}`
  const mention = (index: number) => `@ann.${index}`
  const link = (index: number) => `https://a.example/${index}`

  it.each([
    ['instagram', words(30, tag), words(31, tag), 'TOO_MANY_HASHTAGS'],
    ['instagram', words(20, mention), words(21, mention), 'TOO_MANY_MENTIONS'],
    ['threads', words(5, link), words(6, link), 'TOO_MANY_LINKS'],
    ['threads', words(30, () => link(1)), words(6, link), 'TOO_MANY_LINKS'],
    ['instagram', '#a#b'.repeat(15), `${'#a#b'.repeat(15)}＃c`, 'TOO_MANY_HASHTAGS'],
    ['instagram', '# & @ '.repeat(31), '#स्ते'.repeat(31), 'TOO_MANY_HASHTAGS'],
    ['instagram', '@a'.repeat(20), `${'@a'.repeat(20)}＠b`, 'TOO_MANY_MENTIONS'],
    [
      'threads',
      'a.com b.com c.com www.d.new e.рф a.com Node.js 3.14 ann@f.com',
      'a.com b.com c.com www.d.new e.рф f.io',
      'TOO_MANY_LINKS',
    ],
  ] as const)('%s limits %j', (platform, fits, tooMany, code) => {
    const mediaItems = media(1)
    expect(
      codes(platform, { text: fits.slice(0, 2_000), mediaItems }).filter((one) => one.startsWith('TOO_MANY')),
    ).toEqual([])
    expect(codes(platform, { text: tooMany, mediaItems })).toEqual([code])
  })

  it('other platforms do not limit the parts of a text', () => {
    expect(codes('tumblr', { text: words(60, tag) })).toEqual([])
  })
})

describe('TEXT_TOO_LONG', () => {
  it.each([
    ['bluesky', 'é'.repeat(300), 'é'.repeat(301)],
    ['threads', 'a'.repeat(496) + '👍', 'a'.repeat(497) + '👍'],
    ['facebook', 'a'.repeat(63_206), 'a'.repeat(63_207)],
    ['mastodon', 'a'.repeat(476) + ` https://a.com/${'b'.repeat(99)}`, 'a'.repeat(477) + ' https://a.com/b'],
    ['tumblr', 'a'.repeat(100_000), 'a'.repeat(100_001)],
  ] as const)('%s accepts a text at its limit and rejects a longer one', (platform, fits, tooLong) => {
    expect(codes(platform, { text: fits })).toEqual([])
    expect(codes(platform, { text: tooLong })).toEqual(['TEXT_TOO_LONG'])
  })

  it('threads warns about a text of more than 500 bytes, which it may count instead of characters', () => {
    const warnings = (text: string) => check('threads', { text }).warnings.map(({ code, path }) => [code, path])
    expect(warnings('é'.repeat(250))).toEqual([])
    expect(warnings('é'.repeat(251))).toEqual([['TEXT_MAY_BE_TOO_LONG', 'content.text']])
    expect(warnings('é'.repeat(501))).toEqual([])
  })

  it('instagram accepts 2,200 characters with media', () => {
    expect(codes('instagram', { text: 'a'.repeat(2_200), mediaItems: media(1) })).toEqual([])
    expect(codes('instagram', { text: 'a'.repeat(2_201), mediaItems: media(1) })).toEqual(['TEXT_TOO_LONG'])
  })

  it('bluesky also counts bytes: 300 graphemes may be too long', () => {
    const text = '👨‍👩‍👧‍👦'.repeat(121)
    expect(check('bluesky', { text }).errors).toEqual([
      {
        path: 'content.text',
        code: 'TEXT_TOO_LONG',
        message: 'Text is too long for Bluesky: 3025 of at most 3000 bytes',
        platform: 'bluesky',
      },
    ])
    expect(check('bluesky', { text }).platforms.bluesky).toEqual({ length: 121, limit: 300, media: 0 })
  })
})

describe('media', () => {
  it.each([
    ['bluesky', 4],
    ['threads', 20],
    ['instagram', 10],
    ['facebook', 10],
    ['mastodon', 4],
    ['tumblr', 20],
  ] as const)('%s accepts at most %i images', (platform, max) => {
    expect(codes(platform, { mediaItems: media(max) })).toEqual([])
    expect(codes(platform, { mediaItems: media(max + 1) })).toEqual(['TOO_MANY_MEDIA'])
  })

  it.each(['facebook', 'mastodon', 'tumblr'] as const)('%s accepts one video', (platform) => {
    expect(codes(platform, { mediaItems: media(1, 'video/mp4') })).toEqual([])
    expect(codes(platform, { mediaItems: media(2, 'video/mp4') })).toEqual(['TOO_MANY_MEDIA'])
  })

  it.each([
    ['bluesky', true],
    ['facebook', true],
    ['mastodon', true],
    ['threads', false],
    ['instagram', false],
    ['tumblr', false],
  ] as const)('%s rejects images together with a video: %s', (platform, refuses) => {
    const found = codes(platform, { mediaItems: [...media(1), ...media(1, 'video/mp4')] })
    expect(found.includes('MEDIA_MIX')).toBe(refuses)
  })

  it('an image with more than 40 stated megapixels is rejected with the next step', () => {
    const [item] = media(1)
    const sized = (width: number, height: number) => ({ mediaItems: [{ ...item!, width, height }] })
    expect(codes('bluesky', sized(8_000, 5_000))).toEqual([])
    expect(check('bluesky', sized(8_000, 5_001)).errors).toEqual([
      {
        path: 'content.mediaItems',
        code: 'IMAGE_TOO_LARGE',
        message: 'An image has 41 megapixels, and at most 40 are accepted: upload it in a smaller size',
        platform: 'bluesky',
      },
    ])
    expect(codes('bluesky', { mediaItems: [{ ...media(1, 'video/mp4')[0]!, width: 8_000, height: 8_000 }] })).toEqual(
      [],
    )
  })

  it.each(PLATFORMS.filter((platform) => POSTING_RULES[platform].media.mix))(
    'images and videos count together on %s',
    (platform) => {
      const { max, video } = POSTING_RULES[platform].media
      const mix = (images: number, videos: number) => ({
        mediaItems: [...media(images), ...media(videos, video.types[0])],
      })
      const codesOf = (images: number, videos: number) => codes(platform, mix(images, videos))
      expect(codesOf(max - 1, 1)).not.toContain('TOO_MANY_MEDIA')
      expect(codesOf(max, 1)).toContain('TOO_MANY_MEDIA')
    },
  )

  it('too many images are named before too many media items', () => {
    const { max } = POSTING_RULES.bluesky.media.image
    expect(check('bluesky', { mediaItems: media(max + 1) }).errors).toMatchObject([
      { code: 'TOO_MANY_MEDIA', message: `Bluesky takes at most ${max} images in a post` },
    ])
  })

  it('instagram needs media', () => {
    expect(codes('instagram', {})).toEqual(['MEDIA_REQUIRED'])
  })

  it('unsupported media types are rejected, each named once', () => {
    expect(codes('mastodon', { mediaItems: media(2, 'image/gif') })).toEqual(['MEDIA_TYPE'])
    expect(codes('bluesky', { mediaItems: media(1, 'video/quicktime') })).toEqual(['MEDIA_TYPE'])
    expect(codes('bluesky', { mediaItems: media(1, 'video/mp4') })).toEqual([])
  })

  it('a video over the limit of the platform is rejected when its size is known', () => {
    const { maxBytes } = POSTING_RULES.mastodon.media.video
    const video = (sizeBytes: number) => media(1, 'video/mp4').map((item) => ({ ...item, sizeBytes }))
    expect(codes('mastodon', { mediaItems: video(maxBytes) })).toEqual([])
    expect(codes('mastodon', { mediaItems: video(maxBytes + 1) })).toEqual(['MEDIA_TOO_LARGE'])
    expect(codes('mastodon', { mediaItems: media(1, 'video/mp4') })).toEqual([])
    expect(
      check('threads', { mediaItems: media(1, 'video/mp4').map((item) => ({ ...item, sizeBytes: 2e9 })) }).errors,
    ).toMatchObject([{ message: 'Threads takes videos of at most 1000 MB' }])
  })

  it('an image with only one stated side has no stated pixels', () => {
    const [item] = media(1)
    expect(codes('bluesky', { mediaItems: [{ ...item!, height: 50_000_000 }] })).toEqual([])
    expect(codes('bluesky', { mediaItems: [{ ...item!, width: 50_000_000 }] })).toEqual([])
  })

  it('a text is counted to ten times the limit', () => {
    const longer = (count: number) => check('bluesky', { text: 'x'.repeat(count) }).errors[0]!.message
    expect(longer(301)).toBe('Text is too long for Bluesky: 301 of at most 300 characters')
    expect(longer(2_999)).toBe('Text is too long for Bluesky: 2999 of at most 300 characters')
    expect(longer(3_000)).toBe('Text is too long for Bluesky: 3000 or more of at most 300 characters')
    expect(longer(9_000)).toBe('Text is too long for Bluesky: 3000 or more of at most 300 characters')
  })

  it('preflight warns that a description will be cut', () => {
    const long = media(1).map((item) => ({ ...item, altText: 'a'.repeat(1_501) }))
    expect(check('mastodon', { mediaItems: long })).toMatchObject({
      errors: [],
      warnings: [{ code: 'ALT_TEXT_CUT', path: 'content.mediaItems.0.altText', platform: 'mastodon' }],
    })
  })
})

describe('text and media together', () => {
  it('text may be empty when there is media', () => {
    expect(codes('bluesky', { text: '', mediaItems: media(1) })).toEqual([])
    expect(codes('bluesky', { text: ' \n' })).toEqual(['TEXT_REQUIRED'])
  })

  it('preflight checks the content of each platform and reports its path in the request', () => {
    const result = check(
      ['bluesky', 'mastodon', 'threads'],
      { text: 'a'.repeat(400), mediaItems: media(5) },
      {
        platformSpecificContent: { bluesky: { text: 'short' }, mastodon: { text: 'b'.repeat(501), mediaItems: [] } },
      },
    )
    expect(result.errors.map(({ path, code, platform }) => [path, code, platform])).toEqual([
      ['content.mediaItems', 'TOO_MANY_MEDIA', 'bluesky'],
      ['platformSpecificContent.mastodon.text', 'TEXT_TOO_LONG', 'mastodon'],
    ])
    expect(result.platforms).toEqual({
      bluesky: { length: 5, limit: 300, media: 5 },
      mastodon: { length: 501, limit: 500, media: 0 },
      threads: { length: 400, limit: 500, media: 5 },
    })
  })

  it('preflight reports every problem of every platform together', () => {
    const result = check(['bluesky', 'mastodon'], { text: 'a'.repeat(3_000), mediaItems: media(5) })
    expect(result.errors.map(({ code, platform }) => [platform, code])).toEqual([
      ['bluesky', 'TEXT_TOO_LONG'],
      ['bluesky', 'TOO_MANY_MEDIA'],
      ['mastodon', 'TEXT_TOO_LONG'],
      ['mastodon', 'TOO_MANY_MEDIA'],
    ])
  })
})

it('a platform that is not connected causes a warning and no error', () => {
  const post = { content: { text: 'x', mediaItems: [] }, platformSpecificContent: {} }
  const targets = [
    toPreflightTarget('bluesky'),
    toPreflightTarget('threads', { path: 'selectedPlatforms.1', isConnected: false }),
  ]
  expect(preflight(post, targets)).toMatchObject({
    errors: [],
    warnings: [{ path: 'selectedPlatforms.1', code: 'PLATFORM_NOT_CONNECTED', platform: 'threads' }],
  })
})

describe('accounts that the user chose', () => {
  const account = 'a'.repeat(24)
  const target = toPreflightTarget('bluesky', { target: account, accountId: account, path: 'selectedAccounts.0' })

  it('an account has its own text, which replaces that of its platform', () => {
    const post = {
      content: { text: 'x', mediaItems: [] },
      platformSpecificContent: { bluesky: { text: 'short', mediaItems: media(5) } },
      accountSpecificContent: { [account]: { text: 'a'.repeat(301) } },
    }
    const result = preflight(post, [toPreflightTarget('bluesky'), target])
    expect(result.errors.map(({ path, code, accountId }) => [path, code, accountId])).toEqual([
      ['platformSpecificContent.bluesky.mediaItems', 'TOO_MANY_MEDIA', undefined],
      [`accountSpecificContent.${account}.text`, 'TEXT_TOO_LONG', account],
      ['platformSpecificContent.bluesky.mediaItems', 'TOO_MANY_MEDIA', account],
    ])
    expect(result.platforms).toEqual({ bluesky: { length: 5, limit: 300, media: 5 } })
    expect(result.accounts).toEqual({ [account]: { length: 301, limit: 300, media: 5 } })
  })

  it('an account is checked against the rules of its server', () => {
    const { mastodon } = POSTING_RULES
    const [main] = mastodon.text
    const rules = { ...mastodon, text: [{ ...main, max: 5_000 }] as typeof mastodon.text }
    const post = { content: { text: 'a'.repeat(501), mediaItems: [] }, platformSpecificContent: {} }
    const large = toPreflightTarget('mastodon', { target: account, accountId: account, rules })
    const { errors } = preflight(post, [toPreflightTarget('mastodon'), large])
    expect(errors.map(({ code, accountId }) => [code, accountId])).toEqual([['TEXT_TOO_LONG', undefined]])
  })

  it('the warning about an account that is not connected names the account', () => {
    const post = { content: { text: 'x', mediaItems: [] }, platformSpecificContent: {} }
    expect(preflight(post, [{ ...target, isConnected: false }]).warnings).toEqual([
      expect.objectContaining({ path: 'selectedAccounts.0', code: 'PLATFORM_NOT_CONNECTED', accountId: account }),
    ])
  })
})

it('a content warning does not replace the text of a post', () => {
  const options = { mastodon: { spoilerText: 'Spoiler' } }
  const segments = ['  ', 'Third'].map((text) => ({ text, mediaItems: [] }))
  expect(check('mastodon', { segments, options }).errors).toMatchObject([
    { path: 'content.segments.0.text', code: 'TEXT_REQUIRED' },
  ])
})

it('a text is measured once, for however many accounts it is', () => {
  const counted = vi.spyOn(Intl.Segmenter.prototype, 'segment')
  const segments = ['Second', 'Third'].map((text) => ({ text, mediaItems: [] }))
  const targets = ['a', 'b', 'c'].map((accountId) => toPreflightTarget('mastodon', { accountId, target: accountId }))
  const { accounts } = preflight(
    { content: { text: 'First', mediaItems: [], segments }, platformSpecificContent: {} },
    targets,
  )
  expect(Object.values(accounts).map(({ length, parts }) => [length, parts?.map((part) => part.length)])).toEqual(
    Array.from({ length: 3 }, () => [5, [6, 5]]),
  )
  expect(counted.mock.calls.map(([text]) => text)).toEqual(['First', 'Second', 'Third'])
  counted.mockRestore()
})

describe('findSchedulingProblem', () => {
  it('the message of a scheduling problem says what is missing', () => {
    const find = (warnings: (typeof SCHEDULED_IN_PAST)[]) =>
      findSchedulingProblem('SCHEDULED', { status: 'PENDING' }, warnings, 'publish')?.message
    const remedy = 'to schedule a post; leave status out to publish it now'
    expect(find([])).toBe(`scheduledAt is required ${remedy}`)
    expect(find([SCHEDULED_IN_PAST])).toBe(`scheduledAt must be in the future ${remedy}`)
  })

  it.each([
    ['SCHEDULED', 'SCHEDULED', [], null],
    [undefined, 'PENDING', [], null],
    ['PENDING', 'PENDING', [SCHEDULED_IN_PAST], null],
    ['SCHEDULED', 'PENDING', [], 'SCHEDULED_AT_REQUIRED'],
    ['SCHEDULED', 'PENDING', [SCHEDULED_IN_PAST], 'SCHEDULED_IN_PAST'],
  ] as const)(
    'a request for %s that becomes %s with warnings %j yields the right problem',
    (wanted, status, warnings, code) => {
      expect(findSchedulingProblem(wanted, { status }, warnings, 'publish')?.code ?? null).toBe(code)
    },
  )

  it.each([
    [undefined, 'PENDING', [SCHEDULED_IN_PAST], 'SCHEDULED_IN_PAST'],
    ['PENDING', 'PENDING', [SCHEDULED_IN_PAST], 'SCHEDULED_IN_PAST'],
    ['DRAFT', 'DRAFT', [SCHEDULED_IN_PAST], null],
    [undefined, 'PENDING', [], null],
  ] as const)(
    'where past times are refused, %s that becomes %s with warnings %j gives %s',
    (wanted, status, warnings, code) => {
      expect(findSchedulingProblem(wanted, { status }, warnings, 'refuse')?.code ?? null).toBe(code)
    },
  )
})
