import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseAccounts, findAccountFor, type SelectableAccount } from '../../../../src/domain/accounts/selection.ts'
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

  it('a chosen account has no replacement, and a default one is replaced by the present default', () => {
    const { chosen } = chooseAccounts(OURS, { selectedPlatforms: ['bluesky'], selectedAccounts: ['b2'] })
    const [byDefault, named] = chosen as [(typeof chosen)[0], (typeof chosen)[0]]
    expect(findAccountFor(byDefault, chosen, OURS)?._id).toBe('b1')
    const later = [account('b3', 'bluesky', true)]
    expect(findAccountFor(byDefault, chosen, later)?._id).toBe('b3')
    expect(findAccountFor(named, chosen, later)).toBeNull()
    expect(findAccountFor({ platform: 'bluesky' }, [], OURS)?._id).toBe('b1')
  })

  it('a default entry is not published with an account that another entry is for', () => {
    const { chosen } = chooseAccounts(OURS, { selectedPlatforms: ['bluesky'], selectedAccounts: ['b2'] })
    expect(findAccountFor(chosen[0]!, chosen, [account('b2', 'bluesky', true)])).toBeNull()
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
