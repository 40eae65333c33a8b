import { describe, expect, it } from 'vitest'
import {
  findGroupNameProblems,
  normalizeGroup,
  resolveGroups,
  toGroupKey,
  type AccountGroup,
} from '../../../../src/domain/accounts/groups.ts'

const group = (_id: string, name: string, ...accountIds: string[]): AccountGroup => ({
  ...{ _id, userId: 'u', color: '#112233', revision: 0, createdAt: new Date(0) },
  ...{ name, nameKey: toGroupKey(name), accountIds },
})
const ID = 'a'.repeat(24)
const path = 'selectedGroups'

describe('the name of a group', () => {
  it.each(['x', ' x ', 'x'.repeat(60), 'Größe 🌅', `${ID}a`, ID.slice(1)])('%j is allowed', (name) => {
    expect(findGroupNameProblems(name)).toEqual([])
  })

  it.each([
    ['', 'at least one character'],
    [' \u202e ', 'at least one character'],
    ['x'.repeat(61), 'at most 60 characters'],
    ['a\nb', 'one line'],
    [ID, 'looks like an id'],
    [` ${ID.toUpperCase()}`, 'looks like an id'],
  ])('%j is refused', (name, part) => {
    expect(findGroupNameProblems(name)).toMatchObject([
      { path: 'name', code: 'NAME_NOT_ALLOWED', message: expect.stringContaining(part) },
    ])
  })

  it('is compared in any letter case, without the spaces around it and however its accents are encoded', () => {
    expect(toGroupKey(' CAFE\u0301 ')).toBe(toGroupKey('café'))
    expect(toGroupKey('a b')).not.toBe(toGroupKey('ab'))
  })
})

it('a change of a group contains the given fields alone, in their stored form', () => {
  expect(normalizeGroup({})).toEqual({})
  expect(normalizeGroup({ name: ' North ', color: '#AABBCC' })).toEqual({
    ...{ name: 'North', nameKey: 'north', color: '#aabbcc' },
  })
})

describe('resolving groups', () => {
  const groups = [group(ID, 'North', 'b1'), group('b'.repeat(24), 'South')]

  it('ids and names mean the same groups, each once', () => {
    expect(resolveGroups(groups, ['north', ID, ' SOUTH '], { path })).toEqual({
      found: [
        { id: ID, name: 'North', accountIds: ['b1'] },
        { id: 'b'.repeat(24), name: 'South', accountIds: [] },
      ],
      problems: [],
    })
  })

  it('a name that no group has is a problem with its path', () => {
    expect(resolveGroups(groups, ['North', 'West'], { path })).toMatchObject({
      found: [{ id: ID }],
      problems: [{ path: 'selectedGroups.1', code: 'GROUP_NOT_FOUND' }],
    })
  })

  it('a recorded group keeps its name and its accounts, also when it is renamed, changed or gone', () => {
    const recorded = [
      { id: ID, name: 'Before', accountIds: ['b0'] },
      { id: 'gone', name: 'Gone', accountIds: ['b9'] },
    ]
    expect(resolveGroups(groups, [ID, 'before', 'gone'], { path, recorded }).found).toEqual(recorded)
  })
})
