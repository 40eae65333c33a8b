import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeSelection,
  chooseAccounts,
  findAccountFor,
  type SelectableAccount,
} from '../../../../src/domain/accounts/selection.ts'
import { toTarget } from '../../../../src/domain/posts/targets.ts'
import { PLATFORMS, type Platform } from '../../../../src/domain/shared/platforms.ts'

const account = (_id: string, platform: Platform, isDefault = false): SelectableAccount => ({
  _id,
  platform,
  isDefault,
})
const group = (id: string, ...accountIds: string[]) => ({ id, name: id, accountIds })
const OURS = [account('b1', 'bluesky', true), account('b2', 'bluesky'), account('m1', 'mastodon', true)]

describe('the accounts of a post', () => {
  it('a platform means its default account, and further accounts are named', () => {
    expect(chooseAccounts(OURS, { selectedPlatforms: ['bluesky', 'threads'], selectedAccounts: ['b2'] })).toEqual({
      chosen: [
        { platform: 'bluesky', accountId: 'b1' },
        { platform: 'threads' },
        { platform: 'bluesky', target: 'b2', accountId: 'b2' },
      ],
      problems: [],
    })
  })

  it('an account that is selected by its platform, its id and groups counts once', () => {
    const groups = [group('north', 'b1', 'b2', 'm1'), group('south', 'm1')]
    const { chosen, problems } = chooseAccounts(OURS, {
      ...{ selectedPlatforms: ['bluesky'], selectedAccounts: ['b2', 'b1'], groups },
    })
    expect(problems).toEqual([])
    expect(chosen).toEqual([
      { platform: 'bluesky', accountId: 'b1' },
      { platform: 'bluesky', target: 'b2', accountId: 'b2' },
      { platform: 'mastodon', target: 'm1', accountId: 'm1' },
    ])
  })

  it.each<[string, Omit<Parameters<typeof chooseAccounts>[1], 'selectedPlatforms'>, string, string]>([
    ['an account of another user', { selectedAccounts: ['x'] }, 'ACCOUNT_NOT_FOUND', 'selectedAccounts.0'],
    ['a recorded group with a lost account', { groups: [group('g', 'x')] }, 'ACCOUNT_NOT_FOUND', 'selectedGroups.0'],
    ['an empty group', { groups: [group('g', 'b1'), group('h')] }, 'GROUP_EMPTY', 'selectedGroups.1'],
  ])('refuses %s', (_what, selection, code, path) => {
    const { problems } = chooseAccounts(OURS, { selectedPlatforms: ['bluesky'], ...selection })
    expect(problems).toMatchObject([{ code, path }])
  })

  it('refuses groups with more than 50 accounts, not counting the default ones', () => {
    const many = Array.from({ length: 51 }, (_, index) => account(`b${index}`, 'bluesky', index === 0))
    const groups = [group('all', ...many.map(({ _id }) => _id))]
    const choose = (selectedPlatforms: Platform[]) => chooseAccounts(many, { selectedPlatforms, groups }).problems
    expect(choose([])).toMatchObject([{ code: 'TOO_LONG', path: 'selectedGroups' }])
    expect(choose(['bluesky'])).toEqual([])
  })

  it('the account that an entry records has no replacement, whether it was named or the default one', () => {
    const { chosen } = chooseAccounts(OURS, { selectedPlatforms: ['bluesky'], selectedAccounts: ['b2'] })
    const find = (accounts: SelectableAccount[]) =>
      chosen.map((entry) => findAccountFor(entry, chosen, accounts)?._id ?? null)
    expect(find(OURS)).toEqual(['b1', 'b2'])
    expect(find([account('b1', 'bluesky'), account('b3', 'bluesky', true)])).toEqual(['b1', null])
    expect(find([account('b2', 'bluesky', true)])).toEqual([null, 'b2'])
  })

  it('an entry without a recorded account gets the present default one, unless another entry is for it', () => {
    const byDefault = { platform: 'bluesky' } as const
    expect(findAccountFor(byDefault, [byDefault], OURS)?._id).toBe('b1')
    const named = { platform: 'bluesky', target: 'b1', accountId: 'b1' } as const
    expect(findAccountFor(byDefault, [byDefault, named], OURS)).toBeNull()
  })

  it('a platform that stays selected keeps its recorded account, also when that is gone', () => {
    const recorded = [
      { platform: 'bluesky', accountId: 'b0' },
      { platform: 'mastodon', target: 'm2', accountId: 'm2' },
    ] as const
    const selection = { selectedPlatforms: ['bluesky', 'mastodon'] as Platform[] }
    expect(chooseAccounts(OURS, selection, recorded).chosen).toMatchObject([{ accountId: 'b0' }, { accountId: 'm1' }])
  })

  it.each<[string, Parameters<typeof changeSelection>[1], Platform[], string[]]>([
    ['nothing', {}, ['mastodon'], ['b2']],
    ['the listed platforms', { selectedPlatforms: ['mastodon', 'bluesky'] }, ['mastodon'], ['b2']],
    ['another account of a listed platform', { selectedPlatforms: ['bluesky'], selectedAccounts: ['b1'] }, [], ['b1']],
    ['no accounts', { selectedPlatforms: ['bluesky'], selectedAccounts: [] }, ['bluesky'], []],
    ['other platforms', { selectedPlatforms: ['threads'] }, ['threads'], []],
    ['accounts alone', { selectedAccounts: ['b1'] }, ['mastodon'], ['b1']],
  ])('a change that names %s keeps what its client may not know', (_, change, selectedPlatforms, selectedAccounts) => {
    const platformStatuses = [
      { platform: 'mastodon', accountId: 'm1' },
      { platform: 'bluesky', target: 'b2', accountId: 'b2' },
    ] as const
    const post = { platformStatuses, selectedAccounts: ['b2'] }
    expect(changeSelection(post, change, OURS)).toEqual({ selectedPlatforms, selectedAccounts, groups: [] })
  })

  it.each<[string, Parameters<typeof changeSelection>[1], Platform[], string[][]]>([
    ['nothing', {}, [], [['b1', 'm1']]],
    ['all of the platforms', { selectedPlatforms: ['bluesky', 'mastodon'] }, [], [['b1', 'm1']]],
    ['a platform of the group', { selectedPlatforms: ['bluesky'] }, [], [['b1']]],
    ['other platforms', { selectedPlatforms: ['threads'] }, ['threads'], []],
    ['accounts', { selectedAccounts: ['b2'] }, [], [['b1', 'm1']]],
    ['another group', { groups: [group('south', 'b2')] }, [], [['b2']]],
    ['a platform beside no groups', { selectedPlatforms: ['bluesky'], groups: [] }, ['bluesky'], []],
  ])('a change of a post for a group that names %s keeps the rest', (_, change, selectedPlatforms, accounts) => {
    const platformStatuses = [
      { platform: 'bluesky', target: 'b1', accountId: 'b1' },
      { platform: 'mastodon', target: 'm1', accountId: 'm1' },
    ] as const
    const post = { platformStatuses, groups: [group('north', 'b1', 'm1')] }
    const changed = changeSelection(post, change, OURS)
    expect(changed.selectedPlatforms).toEqual(selectedPlatforms)
    expect(changed.groups.map(({ accountIds }) => accountIds)).toEqual(accounts)
  })

  it('no two entries are ever published with one account, whatever is disconnected or becomes the default', () => {
    const accounts = fc
      .uniqueArray(
        fc.record({ _id: fc.constantFrom(...'abcdef'), platform: fc.constantFrom(...PLATFORMS.slice(0, 2)) }),
        {
          selector: ({ _id }) => _id,
        },
      )
      .map((all) =>
        all.map((one, index) => ({
          ...one,
          isDefault: all.findIndex(({ platform }) => platform === one.platform) === index,
        })),
      )
    fc.assert(
      fc.property(accounts, accounts, fc.subarray([...'abcdef']), (before, after, selectedAccounts) => {
        const selectedPlatforms = PLATFORMS.slice(0, 2)
        const { chosen } = chooseAccounts(before, { selectedPlatforms, selectedAccounts })
        const ids = chosen.flatMap((entry) => findAccountFor(entry, chosen, after)?._id ?? [])
        expect(new Set(ids).size).toBe(ids.length)
        expect(new Set(chosen.map(toTarget)).size).toBe(chosen.length)
      }),
    )
  })
})
