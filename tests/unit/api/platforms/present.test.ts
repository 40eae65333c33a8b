import { expect, it } from 'vitest'
import { presentAccount, presentAccounts } from '../../../../src/api/platforms/present.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import type { ConnectedAccount } from '../../../../src/store/accounts/platform-accounts.ts'

const now = new Date('2026-03-01T12:00:00Z')

const account: ConnectedAccount = {
  connected: true,
  version: 7,
  accountId: 'did:plc:alice',
  handle: 'alice.test',
  serviceUrl: 'https://pds.test',
  profile: { displayName: 'Alice', handle: 'alice.test', avatar: 'https://pds.test/a.png', description: 'Hello' },
  health: { status: 'active', lastError: null, checkedAt: now },
  connectedAt: now,
  auth: { accessToken: 'sealed-access', refreshToken: 'sealed-refresh', expiresAt: now, endsAt: null },
  refreshLease: { version: 7, holder: 'someone', until: now },
}

it('an account response has only the listed fields, even if the response schema allowed more', () => {
  expect(presentAccount('bluesky', account, now)).toStrictEqual({
    connected: true,
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
  const { handle: _, did: __, ...shared } = presentAccount('bluesky', account, now)
  expect(presentAccount('mastodon', { ...account, serviceUrl: 'https://mastodon.test' }, now)).toStrictEqual({
    ...shared,
    accountId: account.accountId,
    instanceUrl: 'https://mastodon.test',
  })
})

it('a disconnected or unknown account shows only that it is not connected', () => {
  const accounts = { _id: 'a', userId: 'u', bluesky: { connected: false, version: 8 } as const }
  for (const stored of [accounts, null]) {
    expect(presentAccounts(stored, now)).toStrictEqual(
      Object.fromEntries(PLATFORMS.map((platform) => [platform, { connected: false }])),
    )
  }
})
