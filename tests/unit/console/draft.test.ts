import type { components } from '@postonce/sdk'
import { describe, expect, it } from 'vitest'
import {
  chooseDefaults,
  contentFor,
  emptyDraft,
  fromPost,
  isEmpty,
  isSame,
  listLost,
  toPost,
  withGiven,
  withVariant,
  type Draft,
} from '../../../packages/console/src/pages/compose/draft.ts'

type Schemas = components['schemas']

const ALICE = { _id: 'a'.repeat(24), platform: 'bluesky' as const }
const WORK = { _id: 'b'.repeat(24), platform: 'bluesky' as const }
const PAGE = { _id: 'c'.repeat(24), platform: 'facebook' as const }
const ACCOUNTS = [ALICE, WORK, PAGE]

const item = (name: string) => ({
  storageKey: `posts/user/${name}`,
  storageUrl: `https://media.example/${name}`,
  mimeType: 'image/png',
  altText: name,
})

const segment = (id: string, text: string, ...media: ReturnType<typeof item>[]) => ({ id, text, media })

const DRAFT: Draft = {
  text: 'Good morning',
  media: [item('one.png')],
  segments: [segment('0', 'Second post', item('three.png')), segment('1', 'Third post')],
  firstComment: 'All pictures: https://harbours.example',
  onUnsupported: 'join',
  options: {
    bluesky: { languages: ['en'], labels: ['nudity'], replyGate: ['none'], quoteUrl: 'at://did:plc:a/post/b' },
  },
  ifLate: { action: 'ask', afterMinutes: 90 },
  accounts: [ALICE._id, PAGE._id],
  variants: {
    bluesky: { text: 'Good morning, Bluesky', segments: [segment('0', 'On Bluesky only', item('four.png'))] },
    facebook: { segments: [], firstComment: '', onUnsupported: 'skipPlatform' },
    [ALICE._id]: { options: { bluesky: { languages: ['de'] } } },
    [PAGE._id]: { media: [item('two.png')] },
  },
  at: { time: '2027-05-01 09:30:00', timezone: 'Europe/Berlin' },
}

/** The post that the service makes of a draft. */
function stored(draft: Draft): Schemas['Post'] {
  const { content, platformSpecificContent, accountSpecificContent } = toPost(draft, ACCOUNTS)
  const shown = ({ storageKey = '', ...rest }: Schemas['MediaItemInput']) => ({
    storageKey,
    storageUrl: `https://media.example/${storageKey.split('/').pop()}`,
    ...rest,
  })
  const contentOf = ({ mediaItems, segments, ...rest }: Schemas['OverrideInput']) => ({
    ...rest,
    ...(mediaItems && { mediaItems: mediaItems.map(shown) }),
    ...(segments && {
      segments: segments.map(({ text, mediaItems: media = [] }) => ({ text, mediaItems: media.map(shown) })),
    }),
  })
  const overrides = (given: Record<string, Schemas['OverrideInput']> = {}) =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [key, contentOf(value)]))
  return {
    content: contentOf(content),
    platformSpecificContent: overrides(platformSpecificContent),
    accountSpecificContent: overrides(accountSpecificContent),
    platformStatuses: draft.accounts.map((accountId) => ({ platform: 'bluesky', accountId, accountName: 'alice' })),
    ...(draft.ifLate && { ifLate: draft.ifLate }),
    scheduledAt: draft.at && '2027-05-01T07:30:00.000Z',
    timezone: 'Europe/Berlin',
  } as unknown as Schemas['Post']
}

describe('the draft of the composer', () => {
  it('a draft becomes the body of a post with wall time, named accounts and all parts of both kinds of variants', () => {
    const [one, two, three, four] = ['one.png', 'two.png', 'three.png', 'four.png'].map((name) => {
      const { storageUrl: _, ...rest } = item(name)
      return rest
    })
    expect(toPost(DRAFT, ACCOUNTS)).toEqual({
      content: {
        text: 'Good morning',
        mediaItems: [one],
        segments: [
          { text: 'Second post', mediaItems: [three] },
          { text: 'Third post', mediaItems: [] },
        ],
        firstComment: DRAFT.firstComment,
        onUnsupported: 'join',
        options: DRAFT.options,
      },
      selectedPlatforms: [],
      selectedAccounts: [ALICE._id, PAGE._id],
      platformSpecificContent: {
        bluesky: { text: 'Good morning, Bluesky', segments: [{ text: 'On Bluesky only', mediaItems: [four] }] },
        facebook: { segments: [], firstComment: '', onUnsupported: 'skipPlatform' },
      },
      accountSpecificContent: {
        [ALICE._id]: { options: { bluesky: { languages: ['de'] } } },
        [PAGE._id]: { mediaItems: [two] },
      },
      ifLate: DRAFT.ifLate,
      scheduledAt: '2027-05-01T09:30:00',
      timezone: 'Europe/Berlin',
    })
  })

  it('parts that were removed are sent as empty, because an update keeps what is absent', () => {
    const { content } = toPost({ ...DRAFT, ...emptyDraft(DRAFT.accounts), text: 'Alone' }, ACCOUNTS)
    expect(content).toEqual({
      ...{ text: 'Alone', mediaItems: [], segments: [], firstComment: '', onUnsupported: 'refuse', options: {} },
    })
  })

  it('options of platforms that are not chosen are left out', () => {
    const options = { ...DRAFT.options, tumblr: { sourceUrl: 'https://unfinished' } }
    expect(toPost({ ...DRAFT, options }, ACCOUNTS).content.options).toEqual(DRAFT.options)
  })

  it('a draft without a time publishes now', () => {
    expect(toPost({ ...DRAFT, at: null }, ACCOUNTS).scheduledAt).toBeNull()
  })

  it('accounts that are no longer connected, and variants of accounts that are not chosen, are left out', () => {
    const body = toPost({ ...DRAFT, accounts: [ALICE._id, 'd'.repeat(24)] }, ACCOUNTS)
    expect(body.selectedAccounts).toEqual([ALICE._id])
    expect(body.accountSpecificContent).toEqual({ [ALICE._id]: DRAFT.variants[ALICE._id] })
  })

  it('a stored post becomes the same draft again', () => {
    expect(fromPost(stored(DRAFT))).toEqual(DRAFT)
    expect(isSame(fromPost(stored(DRAFT)), DRAFT)).toBe(true)
  })

  it('a stored post that lacks a thread, a comment and options becomes a draft without them', () => {
    const { content, ...post } = stored(DRAFT)
    const { text, mediaItems } = content
    const { segments, firstComment, onUnsupported, options } = fromPost({ ...post, content: { text, mediaItems } })
    expect({ segments, firstComment, onUnsupported, options }).toEqual({
      ...{ segments: [], firstComment: '', onUnsupported: 'refuse', options: {} },
    })
  })

  it('an account that the stored post leaves out stays chosen', () => {
    const post = { ...stored(DRAFT), platformStatuses: [], selectedAccounts: DRAFT.accounts }
    expect(fromPost(post).accounts).toEqual(DRAFT.accounts)
  })

  it('deliveries of a stored post to accounts that are gone are listed', () => {
    const post = stored(DRAFT)
    expect(listLost(post, ACCOUNTS)).toEqual([])
    expect(listLost(post, [ALICE]).map(({ accountId }) => accountId)).toEqual([PAGE._id])
  })

  it.each<[string, Partial<Draft>]>([
    ['the text', { text: 'Good evening' }],
    ['the files', { media: [] }],
    ['the description of a file', { media: [{ ...item('one.png'), altText: 'Another' }] }],
    ['a segment', { segments: DRAFT.segments.toReversed() }],
    ['the comment', { firstComment: '' }],
    ['the policy', { onUnsupported: 'refuse' }],
    ['an option', { options: { bluesky: { ...DRAFT.options.bluesky, languages: ['fr'] } } }],
    ['the accounts', { accounts: [ALICE._id] }],
    ['a variant', { variants: {} }],
    ['the time', { at: null }],
  ])('drafts that differ in %s make different posts', (_, change) => {
    expect(isSame(DRAFT, { ...DRAFT, ...change })).toBe(false)
  })

  it('the order of accounts, variants and options makes no other post', () => {
    const reverse = <T extends object>(fields: T) => Object.fromEntries(Object.entries(fields).toReversed())
    const variants = reverse(DRAFT.variants)
    const options = { bluesky: reverse(DRAFT.options.bluesky!) }
    expect(isSame(DRAFT, { ...DRAFT, accounts: DRAFT.accounts.toReversed(), variants, options })).toBe(true)
  })

  it('the variant of an account counts before that of its platform, each part by itself', () => {
    const draft = withVariant(withVariant(DRAFT, ALICE._id, { media: [] }), 'facebook', { text: 'Hello, Facebook' })
    expect(contentFor(draft, ALICE)).toMatchObject({
      ...{ text: 'Good morning, Bluesky', media: [], options: { bluesky: { languages: ['de'] } } },
    })
    expect(contentFor(draft, WORK)).toMatchObject({
      ...{ text: 'Good morning, Bluesky', media: DRAFT.media, options: DRAFT.options },
    })
    expect(contentFor(draft, PAGE)).toMatchObject({
      ...{ text: 'Hello, Facebook', media: [item('two.png')], segments: [], firstComment: '' },
    })
  })

  it('a variant without any difference is removed', () => {
    const { variants } = withVariant(DRAFT, 'bluesky', { text: undefined, segments: undefined })
    expect(variants).not.toHaveProperty('bluesky')
  })

  it('text and time of the address are added to what was typed before', () => {
    const at = { time: '2027-06-01 10:00:00', timezone: 'UTC' }
    expect(withGiven(emptyDraft([]), { text: 'Hello' }).text).toBe('Hello')
    expect(withGiven(DRAFT, { text: 'Hello', at })).toMatchObject({ text: 'Good morning\n\nHello', at })
    expect(withGiven(DRAFT, {})).toEqual(DRAFT)
  })

  it('a draft without text and files is empty', () => {
    expect(isEmpty({ ...emptyDraft([ALICE._id]), text: ' \n' })).toBe(true)
    expect(isEmpty({ ...DRAFT, text: '' })).toBe(false)
    expect(isEmpty({ ...emptyDraft([]), segments: [segment('a', 'The second post')] })).toBe(false)
  })

  it('a new post is for the default accounts that can publish', () => {
    const account = (_id: string, isDefault: boolean, needsReconnection = false) => ({
      _id,
      isDefault,
      health: { needsReconnection } as Schemas['ConnectionHealth'],
    })
    expect(chooseDefaults([account('a', true), account('b', false), account('c', true, true)])).toEqual(['a'])
  })
})
