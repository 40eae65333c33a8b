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

  it.each([
    ['an account of another user', ['x'], 'ACCOUNT_NOT_FOUND', 'selectedAccounts.0'],
    ['the default account of a selected platform', ['b1'], 'ACCOUNT_SELECTED_TWICE', 'selectedAccounts.0'],
    ['an account twice', ['b2', 'b2'], 'ACCOUNT_SELECTED_TWICE', 'selectedAccounts.1'],
  ])('refuses %s', (_what, selectedAccounts, code, path) => {
    const { problems } = chooseAccounts(OURS, { selectedPlatforms: ['bluesky'], selectedAccounts })
    expect(problems).toMatchObject([{ code, path }])
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
    const entries = [
      { platform: 'mastodon', accountId: 'm1' },
      { platform: 'bluesky', target: 'b2', accountId: 'b2' },
    ] as const
    expect(changeSelection(entries, change, OURS)).toEqual({ selectedPlatforms, selectedAccounts })
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
