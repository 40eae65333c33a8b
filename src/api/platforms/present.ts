import type { FastifyBaseLogger } from 'fastify'
import type { Disconnected } from '../../commands/accounts/disconnect-platform.ts'
import type { Offer } from '../../commands/accounts/offers.ts'
import { toAccountHealth } from '../../domain/accounts/account-health.ts'
import type { PublicationUse } from '../../domain/quotas/publications.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import {
  MAX_UPLOAD_BYTES,
  type MediaKind,
  type PlatformRules,
  type PostingRules,
} from '../../domain/posts/posting-rules.ts'
import type { Profile } from '../../platforms/contract.ts'
import { findDefault, type ConnectedAccount } from '../../store/accounts/accounts.ts'
import type { WaitingPost } from '../../store/posts/post-lists.ts'
import { listOptionNames } from '../posts/schemas/options.ts'
import { presentAll } from '../shared/odd-records.ts'
import { toInstant } from '../shared/schemas/common.ts'
import type { AccountView, PresentedAccount } from './schema.ts'

/** Response fields that only this platform has. */
const OWN_FIELDS: Partial<Record<Platform, (account: ConnectedAccount) => Partial<PresentedAccount>>> = {
  bluesky: ({ platformId, handle }) => ({ did: platformId, handle }),
  mastodon: ({ platformId, server }) => ({ accountId: platformId, ...(server !== null && { instanceUrl: server }) }),
  tumblr: ({ handle }) => ({ blogHostname: `${handle}.tumblr.com` }),
}

/** Converts an account for clients, without its secrets. */
export function presentAccount(account: ConnectedAccount | null, now: Date): PresentedAccount {
  if (!account) return { connected: false }
  const { _id } = account
  return { connected: true, _id, ...presentConnection(account, now), ...OWN_FIELDS[account.platform]?.(account) }
}

/** Converts one of several accounts for clients. */
export function presentOwnAccount(account: ConnectedAccount, now: Date): AccountView {
  const { _id, platform, server, isDefault, label = null } = account
  return { _id, platform, ...presentConnection(account, now), server, isDefault, label }
}

export function presentOffer({ platform, accounts }: Offer) {
  return {
    platform,
    accounts: accounts.map(({ accountId, profile, problem, isConnected }) => ({
      platformId: accountId,
      problem,
      profile: presentProfile(profile),
      connected: isConnected,
    })),
  }
}

export function presentDisconnected(
  { waitingPosts, waitingTotal }: Disconnected,
  log: Pick<FastifyBaseLogger, 'error'>,
) {
  const presentWaiting = ({ _id, status, scheduledAt }: WaitingPost) => {
    return { postId: _id, status, scheduledAt: toInstant(scheduledAt) }
  }
  return {
    connected: false,
    movedPosts: 0,
    waitingTotal,
    waitingPosts: presentAll(waitingPosts, presentWaiting, log),
  }
}

function presentConnection({ platformId, profile, health, auth, connectedAt }: ConnectedAccount, now: Date) {
  const { status, needsReconnection, lastError, checkedAt, expiresAt } = toAccountHealth(health, auth.endsAt, now)
  return {
    platformId,
    profile: presentProfile(profile),
    health: { status, needsReconnection, lastError, checkedAt: toInstant(checkedAt), expiresAt: toInstant(expiresAt) },
    connectedAt: connectedAt.toISOString(),
  }
}

function presentProfile({ displayName, handle, avatar, description }: Profile) {
  return { displayName, handle, avatar, ...(description !== undefined && { description }) }
}

/** The default account of each platform. */
export function presentDefaults(
  accounts: ConnectedAccount[],
  now: Date,
  log: Pick<FastifyBaseLogger, 'error'>,
): Record<Platform, PresentedAccount> {
  return mapPlatforms((platform) => {
    const present = (account: ConnectedAccount | null) => assertWhole(presentAccount(account, now))
    const [presented] = presentAll([findDefault(accounts, platform)], present, log)
    return presented ?? { connected: false }
  })
}

/** @throws Error for a value with a field that is missing in its record */
function assertWhole<T extends object>(value: T): T {
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    if (field === undefined) throw new Error(`${name} is missing`)
    if (typeof field === 'object' && field !== null) assertWhole(field)
  }
  return value
}

/** @param uses the publications of accounts, by platform */
export function presentLimits(rules: PlatformRules, uses: Map<Platform, PublicationUse[]>) {
  return mapPlatforms((platform) => {
    const { text, uncertainAbove, parts, media, altText, thread, removable, editable, notEditableWith, poll, kinds } =
      rules[platform]
    const publications = uses.get(platform)
    return {
      text: [...text],
      ...(uncertainAbove && { uncertainAbove }),
      ...(parts && { parts }),
      media: presentMediaLimits(media),
      altText,
      thread,
      removable,
      editable,
      ...(notEditableWith && { notEditableWith: [...notEditableWith] }),
      options: listOptionNames(platform),
      ...(kinds && {
        kinds: Object.fromEntries(
          Object.entries(kinds).map(([kind, own]) => [kind, { ...own, media: presentMediaLimits(own.media) }]),
        ),
      }),
      ...(poll && { poll }),
      ...(publications && { publications: publications.map(presentUse) }),
    }
  })
}

function presentMediaLimits(media: PostingRules['media']) {
  const presentKind = (kind: MediaKind) => {
    const { types, maxBytes, codecs, ...others } = media[kind]
    return {
      ...others,
      types: [...types],
      maxBytes: Math.min(maxBytes, MAX_UPLOAD_BYTES[kind]),
      ...(codecs && { codecs: [...codecs] }),
    }
  }
  return { ...media, image: presentKind('image'), video: presentKind('video') }
}

function presentUse({ limit, used, windowMs, waiting, nextFreeAt, resetsAt }: PublicationUse) {
  return {
    ...{ limit, used, waiting },
    windowSeconds: windowMs / SECOND,
    nextFreeAt: toInstant(nextFreeAt),
    resetsAt: toInstant(resetsAt),
  }
}

function mapPlatforms<T>(present: (platform: Platform) => T): Record<Platform, T> {
  return Object.fromEntries(PLATFORMS.map((platform) => [platform, present(platform)])) as Record<Platform, T>
}
