import { expect, it } from 'vitest'
import { buildCallbackUrl, buildSettingsUrl } from '../../../../src/domain/accounts/platform-connect.ts'

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
