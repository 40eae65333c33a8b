import { toAccountHealth } from '../../domain/accounts/account-health.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { MAX_UPLOAD_BYTES, type MediaKind, type PlatformRules } from '../../domain/posts/posting-rules.ts'
import type { ConnectedAccount, PlatformAccount, PlatformAccounts } from '../../store/accounts/platform-accounts.ts'
import { toInstant } from '../shared/schemas/common.ts'
import type { PresentedAccount } from './schema.ts'

/** Response fields that only this platform has. */
const OWN_FIELDS: Partial<Record<Platform, (account: ConnectedAccount) => Partial<PresentedAccount>>> = {
  bluesky: ({ accountId, handle }) => ({ did: accountId, handle }),
  mastodon: ({ accountId, serviceUrl }) => ({ accountId, ...(serviceUrl !== null && { instanceUrl: serviceUrl }) }),
  tumblr: ({ handle }) => ({ blogHostname: `${handle}.tumblr.com` }),
}

/** Converts an account for clients, without its secrets. */
export function presentAccount(platform: Platform, account: PlatformAccount | undefined, now: Date): PresentedAccount {
  if (!account?.connected) return { connected: false }
  const { accountId, profile, health, auth, connectedAt } = account
  const { status, needsReconnection, lastError, checkedAt, expiresAt } = toAccountHealth(health, auth.endsAt, now)
  return {
    connected: true,
    platformId: accountId,
    profile: {
      displayName: profile.displayName,
      handle: profile.handle,
      avatar: profile.avatar,
      ...(profile.description !== undefined && { description: profile.description }),
    },
    health: { status, needsReconnection, lastError, checkedAt: toInstant(checkedAt), expiresAt: toInstant(expiresAt) },
    connectedAt: connectedAt.toISOString(),
    ...OWN_FIELDS[platform]?.(account),
  }
}

export function presentAccounts(accounts: PlatformAccounts | null, now: Date): Record<Platform, PresentedAccount> {
  return mapPlatforms((platform) => presentAccount(platform, accounts?.[platform], now))
}

export function presentLimits(rules: PlatformRules) {
  return mapPlatforms((platform) => {
    const { text, parts, media, altText } = rules[platform]
    const presentKind = (kind: MediaKind) => ({
      ...media[kind],
      types: [...media[kind].types],
      maxBytes: Math.min(media[kind].maxBytes, MAX_UPLOAD_BYTES[kind]),
    })
    return {
      text: [...text],
      ...(parts && { parts }),
      media: { ...media, image: presentKind('image'), video: presentKind('video') },
      altText,
    }
  })
}

function mapPlatforms<T>(present: (platform: Platform) => T): Record<Platform, T> {
  return Object.fromEntries(PLATFORMS.map((platform) => [platform, present(platform)])) as Record<Platform, T>
}
