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

const DRAFT: Draft = {
  text: 'Good morning',
  media: [item('one.png')],
  accounts: [ALICE._id, PAGE._id],
  variants: { bluesky: { text: 'Good morning, Bluesky' }, [PAGE._id]: { media: [item('two.png')] } },
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
  const override = ({ text, mediaItems }: Schemas['OverrideInput']) => ({
    ...(text !== undefined && { text }),
    ...(mediaItems && { mediaItems: mediaItems.map(shown) }),
  })
  const overrides = (given: Record<string, Schemas['OverrideInput']> = {}) =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [key, override(value)]))
  return {
    content: { text: content.text, mediaItems: content.mediaItems!.map(shown) },
    platformSpecificContent: overrides(platformSpecificContent),
    accountSpecificContent: overrides(accountSpecificContent),
    platformStatuses: draft.accounts.map((accountId) => ({ platform: 'bluesky', accountId, accountName: 'alice' })),
    scheduledAt: draft.at && '2027-05-01T07:30:00.000Z',
    timezone: 'Europe/Berlin',
  } as unknown as Schemas['Post']
}

describe('the draft of the composer', () => {
  it('a draft becomes the body of a post with wall time, named accounts and both kinds of variants', () => {
    const { storageUrl: _, ...one } = item('one.png')
    const { storageUrl: __, ...two } = item('two.png')
    expect(toPost(DRAFT, ACCOUNTS)).toEqual({
      content: { text: 'Good morning', mediaItems: [one] },
      selectedPlatforms: [],
      selectedAccounts: [ALICE._id, PAGE._id],
      platformSpecificContent: { bluesky: { text: 'Good morning, Bluesky' } },
      accountSpecificContent: { [PAGE._id]: { mediaItems: [two] } },
      scheduledAt: '2027-05-01T09:30:00',
      timezone: 'Europe/Berlin',
    })
  })

  it('a draft without a time publishes now', () => {
    expect(toPost({ ...DRAFT, at: null }, ACCOUNTS).scheduledAt).toBeNull()
  })

  it('accounts that are no longer connected, and variants of accounts that are not chosen, are left out', () => {
    const body = toPost({ ...DRAFT, accounts: [ALICE._id, 'd'.repeat(24)] }, ACCOUNTS)
    expect(body.selectedAccounts).toEqual([ALICE._id])
    expect(body.accountSpecificContent).toEqual({})
  })

  it('a stored post becomes the same draft again', () => {
    expect(fromPost(stored(DRAFT))).toEqual(DRAFT)
    expect(isSame(fromPost(stored(DRAFT)), DRAFT)).toBe(true)
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
    ['the accounts', { accounts: [ALICE._id] }],
    ['a variant', { variants: {} }],
    ['the time', { at: null }],
  ])('drafts that differ in %s make different posts', (_, change) => {
    expect(isSame(DRAFT, { ...DRAFT, ...change })).toBe(false)
  })

  it('the order of accounts and variants makes no other post', () => {
    const variants = Object.fromEntries(Object.entries(DRAFT.variants).toReversed())
    expect(isSame(DRAFT, { ...DRAFT, accounts: DRAFT.accounts.toReversed(), variants })).toBe(true)
  })

  it('the variant of an account counts before that of its platform, each part by itself', () => {
    const draft = withVariant(withVariant(DRAFT, ALICE._id, { media: [] }), 'facebook', { text: 'Hello, Facebook' })
    expect(contentFor(draft, ALICE)).toEqual({ text: 'Good morning, Bluesky', media: [] })
    expect(contentFor(draft, WORK)).toEqual({ text: 'Good morning, Bluesky', media: DRAFT.media })
    expect(contentFor(draft, PAGE)).toEqual({ text: 'Hello, Facebook', media: [item('two.png')] })
  })

  it('a variant without any difference is removed', () => {
    expect(withVariant(DRAFT, 'bluesky', { text: undefined }).variants).not.toHaveProperty('bluesky')
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
