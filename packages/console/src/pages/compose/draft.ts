import type { components } from '@postonce/sdk'
import type { Account, Platform } from '../../shared/platforms.tsx'
import { scheduledFor, toWallTime, type WallTime } from '../../shared/times.ts'

type Schemas = components['schemas']

/** A media item with the address that shows it. */
export type DraftMedia = Schemas['MediaItemInput'] & { storageUrl: string }

/** What differs for a platform or an account; an absent part is the same as for all. */
export interface Variant {
  text?: string
  media?: DraftMedia[]
}

/** Everything that the composer edits. */
export interface Draft {
  text: string
  media: DraftMedia[]
  /** Ids of the accounts to publish on. */
  accounts: string[]
  /** By a platform or the id of an account. */
  variants: Record<string, Variant>
  /** Null publishes at once. */
  at: WallTime | null
}

export const emptyDraft = (accounts: string[], at: WallTime | null = null): Draft => ({
  text: '',
  media: [],
  accounts,
  variants: {},
  at,
})

/** Returns the body of a post. Accounts are always named, so that a change of the default account moves nothing. */
export function toPost(draft: Draft, accounts: Account[]): Schemas['CreatePost'] {
  const chosen = accounts.filter(({ _id }) => draft.accounts.includes(_id))
  const platforms = new Set<string>(chosen.map(({ platform }) => platform))
  const ids = new Set(chosen.map(({ _id }) => _id))
  const variantsOf = (keys: Set<string>) =>
    Object.fromEntries(
      Object.entries(draft.variants)
        .filter(([key, { text, media }]) => keys.has(key) && (text !== undefined || media !== undefined))
        .map(([key, { text, media }]) => [
          key,
          { ...(text !== undefined && { text }), ...(media && { mediaItems: media.map(toItem) }) },
        ]),
    )
  return {
    content: { text: draft.text, mediaItems: draft.media.map(toItem) },
    selectedPlatforms: [],
    selectedAccounts: draft.accounts,
    platformSpecificContent: variantsOf(platforms),
    accountSpecificContent: variantsOf(ids),
    ...(draft.at === null ? { scheduledAt: null } : scheduledFor(draft.at)),
  }
}

function toItem({ storageUrl: _, ...item }: DraftMedia): Schemas['MediaItemInput'] {
  return item
}

/** Returns what the composer edits of a stored post. Accounts that are no longer connected are left out. */
export function fromPost(post: Schemas['Post'], accounts: Account[]): Draft {
  const {
    content,
    platformSpecificContent,
    accountSpecificContent = {},
    platformStatuses,
    scheduledAt,
    timezone,
  } = post
  const connected = new Set(accounts.map(({ _id }) => _id))
  return {
    text: content.text,
    media: content.mediaItems,
    accounts: platformStatuses.flatMap(({ accountId }) => (accountId && connected.has(accountId) ? accountId : [])),
    variants: Object.fromEntries(
      Object.entries({ ...platformSpecificContent, ...accountSpecificContent }).map(([key, variant]) => [
        key,
        {
          ...(variant?.text !== undefined && { text: variant.text }),
          ...(variant?.mediaItems && { media: variant.mediaItems }),
        },
      ]),
    ),
    at: scheduledAt === null ? null : { time: toWallTime(scheduledAt, timezone), timezone },
  }
}

/** Returns what is published on an account: its own variant, that of its platform, or what is for all. */
export function contentFor({ text, media, variants }: Draft, { _id, platform }: { _id: string; platform: Platform }) {
  const layers = [variants[_id], variants[platform]]
  return {
    text: layers.find((layer) => layer?.text !== undefined)?.text ?? text,
    media: layers.find((layer) => layer?.media !== undefined)?.media ?? media,
  }
}

/** Returns the draft with a part of a variant replaced, or taken away by undefined. */
export function withVariant(
  draft: Draft,
  key: string,
  change: { [part in keyof Variant]: Variant[part] | undefined },
): Draft {
  const merged = { ...draft.variants[key], ...change }
  const variant = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) as Variant
  const { [key]: _, ...others } = draft.variants
  return { ...draft, variants: Object.keys(variant).length === 0 ? others : { ...others, [key]: variant } }
}
