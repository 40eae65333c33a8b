import { describe, expect, it } from 'vitest'
import { accept, claim, ClaimRefused, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { findAbandoned, findEntry } from '../../../../src/domain/posts/post-entries.ts'
import { changeAccount, copyAsDraft, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import { findMisplaced } from '../../../../src/domain/posts/targets.ts'
import { toPublishPlan } from '../../../../src/domain/posts/publish-plan.ts'
import { deriveEvents } from '../../../../src/domain/posts/timeline.ts'
import { hasChangedWhileArmed } from '../../../../src/domain/posts/armed-fields.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'

it('an entry is misplaced when it was published on none of the accounts that its post was created for', () => {
  const described = (accountId: string | null) => ({ platform: 'bluesky' as const, accountId, accountName: null })
  const published = (accountId: string, status = 'completed' as const) => ({
    platform: 'bluesky' as const,
    accountId,
    status,
  })
  const idsOf = (...args: Parameters<typeof findMisplaced>) =>
    findMisplaced(...args).map(({ entry, createdFor }) => [createdFor.accountId, entry.accountId])
  expect(idsOf([described('a')], [published('b')])).toEqual([['a', 'b']])
  expect(idsOf([described('a'), described('b')], [published('b'), published('c')])).toEqual([['a', 'c']])
  expect(idsOf([described('a')], [published('a'), published('b')])).toEqual([])
  expect(idsOf([described(null)], [published('b')])).toEqual([])
  expect(idsOf([described('a')], [{ ...published('b'), status: 'failed' }])).toEqual([])
})

const DEFAULT = { platform: 'bluesky', accountId: 'first' } as const
const SECOND = { platform: 'bluesky', target: 'second', accountId: 'second' } as const

const onTwoAccounts = (changes = {}): Post =>
  buildPost({ selectedPlatforms: ['bluesky'], selectedAccounts: ['second'], chosen: [DEFAULT, SECOND], ...changes })

const wanted = { round: 0, leaseUntil: after(T0, 10_000), accountId: 'did:plc:x', contentVersion: 0 }

describe('a post for two accounts of one platform', () => {
  it('has an entry and a planned delivery for each', () => {
    const post = onTwoAccounts()
    expect(post.platformStatuses).toMatchObject([DEFAULT, SECOND])
    expect(post.platformStatuses[0]).not.toHaveProperty('target')
    expect(toPublishPlan(post)?.platforms).toMatchObject([
      { platform: 'bluesky' },
      { platform: 'bluesky', target: 'second' },
    ])
    expect(toPublishPlan(post)?.platforms[0]).not.toHaveProperty('target')
  })

  it('ends each entry on its own, and only when both have ended', () => {
    const post = onTwoAccounts()
    const claimed = claim('second', wanted)(post, T0)
    expect(findEntry(claimed, 'bluesky')).toBe(findEntry(post, 'bluesky'))
    const accepted = accept('second', { platformPostId: '1', platformPostUrl: 'https://b/1' })(claimed, T0)
    expect(accepted.status).toBe('PROCESSING')
    const both = claim('bluesky', wanted)(accepted, T0)
    const refused = refuse('bluesky', failure('validation', 'no'), { round: 0, attempt: 1 })(both, T0)
    expect(refused.status).toBe('PARTIAL_SUCCESS')
    expect(findEntry(refused, 'second')?.status).toBe('completed')
    const retried = retry()(refused, T0)
    expect(findEntry(retried, 'bluesky')?.delivery.round).toBe(1)
    expect(findEntry(retried, 'second')).toBe(findEntry(refused, 'second'))
  })

  it('moves each entry of an account to another one, with the content for it', () => {
    const third = { accountId: 'third', accountName: 'third.test' }
    const content = { second: { text: 'For the second' } }
    const post = onTwoAccounts({ accountSpecificContent: content })
    const move = (from: string, to = third) => edit(changeAccount(post, from, to)!)(post, T0)
    expect(move('first').platformStatuses).toMatchObject([{ platform: 'bluesky', ...third }, SECOND])
    expect(move('second')).toMatchObject({
      selectedAccounts: ['third'],
      accountSpecificContent: { third: content.second },
      platformStatuses: [DEFAULT, { target: 'third', ...third }],
    })
    const unnamed = { platform: 'mastodon' as const }
    const before = onTwoAccounts({ chosen: [DEFAULT, SECOND, unnamed] })
    const after = edit({
      chosen: [
        { ...DEFAULT, ...third },
        { ...unnamed, accountId: 'm' },
      ],
    })(before, T0)
    expect(findAbandoned(before.platformStatuses, after)).toMatchObject([DEFAULT, SECOND])
    expect(changeAccount(post, 'first', { accountId: 'second' })).toBeNull()
    expect(changeAccount(post, 'fourth', third)).toBeNull()
  })

  it('moves the account of a group to another one, and reads the post again while it is armed', () => {
    const groups = [{ id: 'g', name: 'North', accountIds: ['second', 'fourth'] }]
    const { selectedAccounts: _, ...post } = onTwoAccounts({ groups })
    const moved = edit(changeAccount(post, 'second', { accountId: 'third' })!)(post, T0)
    expect(moved.groups).toEqual([{ id: 'g', name: 'North', accountIds: ['third', 'fourth'] }])
    expect(hasChangedWhileArmed(post, moved)).toBe(true)
    expect(hasChangedWhileArmed(post, { ...post })).toBe(false)
    expect(copyAsDraft(post, { _id: 'copy', metadata: post.metadata }, T0).groups).toEqual(groups)
  })

  it('is not claimed for the account that an entry has been moved from', () => {
    const post = onTwoAccounts()
    const moved = edit(changeAccount(post, 'first', { accountId: 'third' })!)(post, T0)
    const claimFor = (accountId: string) => () => claim('bluesky', { ...wanted, account: { accountId } })(moved, T0)
    expect(claimFor('first')).toThrow(ClaimRefused)
    expect(claimFor('third')).not.toThrow()
  })

  it('names the account in the timeline, if it is known', () => {
    const post = onTwoAccounts()
    expect(deriveEvents(post, claim('second', wanted)(post, T0), T0)).toContainEqual(
      expect.objectContaining({ type: 'attempt', platform: 'bluesky', accountId: 'second' }),
    )
    const unknown = onTwoAccounts({ chosen: [{ platform: 'bluesky' }, SECOND] })
    const ofDefault = deriveEvents(unknown, claim('bluesky', wanted)(unknown, T0), T0)
    expect(ofDefault.find(({ type }) => type === 'attempt')).not.toHaveProperty('accountId')
  })

  it('keeps an entry that an edit leaves selected, and prepares it again when an account’s content changes', () => {
    const post = onTwoAccounts({ scheduledAt: after(T0, 60_000) })
    const without = edit({ selectedPlatforms: [], selectedAccounts: ['second'], chosen: [SECOND] })(post, T0)
    expect(without.platformStatuses.map(({ target }) => target)).toEqual(['second'])
    expect(hasChangedWhileArmed(post, without)).toBe(true)
    const texts = edit({ accountSpecificContent: { second: { text: 'other' } } })(post, T0)
    expect(texts.contentVersion).toBe(post.contentVersion + 1)
    expect(texts.platformStatuses).toMatchObject([DEFAULT, SECOND])
  })

  it('has the same accounts when it is copied', () => {
    const post = onTwoAccounts({ accountSpecificContent: { second: { text: 'other' } } })
    const copy = copyAsDraft(post, { _id: 'copy', metadata: post.metadata }, T0)
    expect(copy).toMatchObject({ selectedAccounts: ['second'], accountSpecificContent: { second: { text: 'other' } } })
    expect(copy.platformStatuses).toMatchObject([DEFAULT, SECOND])
  })
})
