import { expect, it } from 'vitest'
import { buildCallbackUrl, buildSettingsUrl, chooseOffered } from '../../../../src/domain/accounts/platform-connect.ts'

it('a platform has one callback URL whether or not the public URL ends in a slash', () => {
  expect(buildCallbackUrl('https://api.test', 'mastodon')).toBe('https://api.test/api/platform/mastodon/callback')
  expect(buildCallbackUrl('https://api.test/', 'threads')).toBe('https://api.test/api/platform/threads/callback')
  expect(buildCallbackUrl('https://test/postonce/', 'tumblr')).toBe(
    'https://test/postonce/api/platform/tumblr/callback',
  )
})

it('a callback redirects to the settings page with its outcome and reason', () => {
  expect(buildSettingsUrl('https://app.test/', 'mastodon', 'connected', null)).toBe(
    'https://app.test/settings?success=mastodon_connected#',
  )
  expect(buildSettingsUrl('https://app.test', 'facebook', 'connected', null, 'id')).toBe(
    'https://app.test/settings?success=facebook_connected&offer=id#',
  )
  expect(
    (['auth_failed', 'connect_failed', 'state_invalid'] as const).map((outcome) =>
      buildSettingsUrl('https://app.test', 'facebook', outcome, 'NO_PAGE'),
    ),
  ).toEqual([
    'https://app.test/settings?error=facebook_auth_failed&reason=NO_PAGE#',
    'https://app.test/settings?error=facebook_connect_failed&reason=NO_PAGE#',
    'https://app.test/settings?error=facebook_state_invalid&reason=NO_PAGE#',
  ])
})

it.each<[string, string[], boolean, string | null]>([
  ['the first that may post, for a user without accounts', [], false, 'b'],
  ['the one connected before, also when the person may no longer post there', ['a'], false, 'a'],
  ['the default account first', ['c', 'b'], false, 'c'],
  ['one that is not connected, to add it', ['b'], true, 'c'],
  ['a connected one, when none is left to add', ['c', 'b'], true, 'c'],
  ['another one, when the connected one is not offered', ['x'], false, 'b'],
])('a login that offers several accounts connects %s', (_, connected, adds, chosen) => {
  const offered = [...'abc'].map((accountId) => ({ accountId, mayPost: accountId !== 'a' }))
  expect(chooseOffered(offered, connected, { adds })).toBe(chosen)
  expect(chooseOffered([{ accountId: 'a', mayPost: false }], [], { adds })).toBeNull()
})
