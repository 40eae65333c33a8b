import { expect, it } from 'vitest'
import { presentAccount, presentDefaults, presentOwnAccount } from '../../../../src/api/platforms/present.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import type { ConnectedAccount } from '../../../../src/store/accounts/accounts.ts'

const now = new Date('2026-03-01T12:00:00Z')

const account: ConnectedAccount = {
  _id: 'a',
  userId: 'u',
  platform: 'bluesky',
  isDefault: true,
  connected: true,
  version: 7,
  platformId: 'did:plc:alice',
  handle: 'alice.test',
  server: 'https://pds.test',
  profile: { displayName: 'Alice', handle: 'alice.test', avatar: 'https://pds.test/a.png', description: 'Hello' },
  health: { status: 'active', lastError: null, checkedAt: now },
  connectedAt: now,
  followersDueAt: now,
  auth: { accessToken: 'sealed-access', refreshToken: 'sealed-refresh', expiresAt: now, endsAt: null },
  refreshLease: { version: 7, holder: 'someone', until: now },
}

it('an account response has only the listed fields, even if the response schema allowed more', () => {
  expect(presentAccount(account, now)).toStrictEqual({
    connected: true,
    _id: 'a',
    platformId: 'did:plc:alice',
    did: 'did:plc:alice',
    handle: 'alice.test',
    profile: account.profile,
    health: {
      status: 'active',
      needsReconnection: false,
      lastError: null,
      checkedAt: now.toISOString(),
      expiresAt: null,
    },
    connectedAt: now.toISOString(),
  })
})

it('a Mastodon account has its own fields', () => {
  const { handle: _, did: __, ...shared } = presentAccount(account, now)
  expect(presentAccount({ ...account, platform: 'mastodon', server: 'https://mastodon.test' }, now)).toStrictEqual({
    ...shared,
    accountId: account.platformId,
    instanceUrl: 'https://mastodon.test',
  })
})

it('each platform shows its default account, and that it is not connected without one', () => {
  const other = { ...account, _id: 'b', isDefault: false, handle: 'other.test' }
  expect(presentDefaults([other, account], now, { error: expect.unreachable })).toStrictEqual({
    ...Object.fromEntries(PLATFORMS.map((platform) => [platform, { connected: false }])),
    bluesky: presentAccount(account, now),
  })
})

it('one of several accounts shows its server, its label and whether it is the default', () => {
  const { connected: _c, did: _d, handle: _h, ...shared } = presentAccount(account, now)
  expect(presentOwnAccount({ ...account, label: 'Brand' }, now)).toStrictEqual({
    ...shared,
    ...{ _id: 'a', platform: 'bluesky', server: 'https://pds.test', isDefault: true, label: 'Brand' },
  })
})
