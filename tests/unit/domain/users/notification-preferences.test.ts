import { expect, it } from 'vitest'
import {
  findPreferenceProblems,
  NOTIFICATION_KINDS,
  resolveAllChannels,
  resolveChannels,
} from '../../../../src/domain/users/notification-preferences.ts'

it('every notification is listed and pushed by default, and mailed only where its user has to act', () => {
  const channels = resolveAllChannels()
  expect(Object.keys(channels)).toEqual(NOTIFICATION_KINDS)
  for (const { list, push } of Object.values(channels)) expect([list, push]).toEqual([true, true])
  const mailed = NOTIFICATION_KINDS.filter((kind) => channels[kind].mail)
  expect(mailed).toEqual(['postFailed', 'accountLogin', 'security'])
})

it('a preference changes one channel of one kind', () => {
  const preferences = { postFailed: { mail: false }, billing: { mail: true } }
  expect(resolveChannels('postFailed', preferences)).toEqual({ list: true, push: true, mail: false })
  expect(resolveChannels('billing', preferences)).toEqual({ list: true, push: true, mail: true })
  expect(resolveChannels('postCreated', preferences)).toEqual({ list: true, push: true, mail: false })
})

it('no channel of security, and no list entry of a failure or a lost login, can be switched off', () => {
  const off = { list: false, push: false, mail: false }
  const everything = Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind, off]))
  expect(findPreferenceProblems(everything).map(({ path }) => path)).toEqual([
    'postFailed.list',
    'accountLogin.list',
    'security.list',
    'security.push',
    'security.mail',
  ])
  const on = { list: true, push: true, mail: true }
  expect(findPreferenceProblems({ security: on, postFailed: { push: false } })).toEqual([])
})

it('a change names at least one kind', () => {
  expect(findPreferenceProblems({})).toEqual([expect.objectContaining({ path: '', code: 'REQUIRED' })])
})
