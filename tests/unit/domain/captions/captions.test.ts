import { describe, expect, it } from 'vitest'
import { buildTemplateCaptions, fitCaptions, MAX_CAPTION_LENGTH } from '../../../../src/domain/captions/captions.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { checkText } from '../../../../src/domain/posts/preflight.ts'

const FAMILY = '👨‍👩‍👧‍👦'

describe.each(PLATFORMS)('captions for %s', (platform) => {
  const rules = POSTING_RULES[platform]
  const findProblems = (text: string) => checkText(platform, { text, mediaItems: [] }, rules)

  it.each([
    ['long words', 'word '.repeat(30_000)],
    ['one long word', 'x'.repeat(150_000)],
    ['emoji of several code points', FAMILY.repeat(4_000)],
    ['hashtags', '#tag '.repeat(500)],
    ['links', 'https://example.com/a/long/path '.repeat(5_000)],
  ])('captions of %s are cut to the limit of the platform', (_name, text) => {
    const [caption] = fitCaptions([text], platform, rules)
    expect(findProblems(caption!)).toEqual([])
    expect(caption!.endsWith('…')).toBe(true)
    expect(caption).not.toMatch(/\u200d…$/)
  })

  it('template captions keep their phrase whatever the user wrote', () => {
    const request = { prompt: 'word '.repeat(30_000), text: null, tone: 'casual', platform }
    const captions = buildTemplateCaptions(request, rules)
    expect(captions[1]).toMatch(/^So, this happened: /)
    expect(captions[3]).toMatch(/Thoughts\?$/)
    for (const caption of captions) expect(findProblems(caption)).toEqual([])
  })
})

it('a caption within the limit is not changed', () => {
  expect(fitCaptions(['  Good morning  ', 'Good evening'], 'bluesky', POSTING_RULES.bluesky)).toEqual([
    'Good morning',
    'Good evening',
  ])
})

it('a caption without a platform has at most 5,000 characters', () => {
  const longest = FAMILY.repeat(MAX_CAPTION_LENGTH)
  expect(fitCaptions([longest], null, null)).toEqual([longest])
  expect(fitCaptions([`${longest}x`], null, null)).toEqual([`${FAMILY.repeat(MAX_CAPTION_LENGTH - 1)}…`])
})

it('duplicate and empty captions are removed, and at most four are returned', () => {
  expect(fitCaptions(['a', ' a ', '', '  ', 'b', 'c', 'd', 'e'], null, null)).toEqual(['a', 'b', 'c', 'd'])
})

it('templates use the existing post as their topic and treat replacement patterns in it as text', () => {
  const request = { prompt: 'funny, please', text: 'Costs $& and $1', tone: 'unheard of', platform: null }
  expect(buildTemplateCaptions(request, null)).toContain('New: Costs $& and $1')
})

describe('captions from templates', () => {
  const suggest = (prompt: string, { text = null, tone = null }: { text?: string | null; tone?: string | null } = {}) =>
    buildTemplateCaptions({ prompt, text, tone, platform: null }, null)

  it.each([null, 'professional', 'casual', 'friendly', 'funny', 'excited'])(
    'template captions never repeat the prompt unchanged (tone %j)',
    (tone) => {
      for (const caption of suggest('Our new café', { tone })) {
        expect(caption).toContain('Our new café')
        expect(caption).not.toBe('Our new café')
      }
    },
  )

  it.each([
    ['Write a short caption about our new café', 'our new café'],
    ['please make a funny post for the summer sale', 'the summer sale'],
    ['Rewrite this: We open on Monday', 'We open on Monday'],
  ])('templates extract the topic of %j', (prompt, topic) => {
    expect(suggest(prompt)).toContain(`New: ${topic}`)
  })

  it.each(['Make it funnier', 'Shorten', 'refine', 'Please add emojis'])(
    'template captions do not repeat the instruction %j',
    (prompt) => {
      const captions = suggest(prompt)
      expect(captions).toHaveLength(4)
      for (const caption of captions) expect(caption.toLowerCase()).not.toContain(prompt.toLowerCase())
      for (const caption of suggest(prompt, { text: 'We open on Monday' })) {
        expect(caption).toContain('We open on Monday')
        expect(caption.toLowerCase()).not.toContain(prompt.toLowerCase())
      }
    },
  )
})
