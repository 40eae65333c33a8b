import type { components } from '@postonce/sdk'
import { scheduledFor, toWallTime, type WallTime } from '../../shared/wall-times.ts'

type Schemas = components['schemas']
type Account = Pick<Schemas['Account'], '_id' | 'platform'>

/** A media item with the address that shows it. */
export type DraftMedia = Schemas['MediaItemInput'] & { storageKey: string; storageUrl: string }

/** The content that differs for a platform or an account; an absent part is the same as for all. */
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
  /** Null publishes now. */
  at: WallTime | null
}

export const emptyDraft = (accounts: string[]): Draft => ({ text: '', media: [], accounts, variants: {}, at: null })

type Brand = Pick<Schemas['Group'], 'accountIds'>

/** Returns the accounts of a new post: those of the brand, or the default ones without a brand. Accounts that cannot publish are left out. */
export const chooseDefaults = (
  accounts: Pick<Schemas['Account'], '_id' | 'isDefault' | 'health'>[],
  brand: Brand | null = null,
): string[] =>
  accounts
    .filter(({ _id, isDefault }) => (brand === null ? isDefault : brand.accountIds.includes(_id)))
    .filter(({ health }) => !health.needsReconnection)
    .map(({ _id }) => _id)

/** Whether accounts of several brands are chosen, and no brand has them all. Accounts without a brand belong to any. */
export function mixesBrands(chosen: string[], brands: Brand[]): boolean {
  const branded = chosen.filter((id) => brands.some(({ accountIds }) => accountIds.includes(id)))
  return branded.length > 0 && !brands.some(({ accountIds }) => branded.every((id) => accountIds.includes(id)))
}

/** The values of the page's address for a new post. */
export interface Given {
  text?: string | undefined
  at?: WallTime | undefined
  media?: DraftMedia | undefined
}

/** Returns the draft with what the address gives. A text follows the one that is there. */
export function withGiven(draft: Draft, { text, at, media }: Given): Draft {
  const texts = [draft.text, text ?? ''].filter((part) => part !== '')
  const isNew = media && draft.media.every(({ storageKey }) => storageKey !== media.storageKey)
  return { ...draft, text: texts.join('\n\n'), ...(at && { at }), ...(isNew && { media: [...draft.media, media] }) }
}

/** Whether a post can be made of it: a variant alone is none. */
export const isEmpty = ({ text, media }: Draft): boolean => text.trim() === '' && media.length === 0

/** Whether two drafts make the same post. */
export function isSame(one: Draft, other: Draft): boolean {
  const comparable = ({ accounts, variants, ...rest }: Draft) =>
    JSON.stringify([
      rest.text,
      rest.media,
      rest.at,
      accounts.toSorted(),
      Object.entries(variants)
        .map(([key, { text, media }]) => [key, text, media] as const)
        .toSorted(([key], [next]) => (key < next ? -1 : 1)),
    ])
  return comparable(one) === comparable(other)
}

/**
 * Returns the body of a post. Accounts are always named, so that a change of the default account moves nothing. Those that are no
 * longer connected are left out.
 */
export function toPost(draft: Draft, accounts: Account[]): Schemas['CreatePost'] {
  const chosen = accounts.filter(({ _id }) => draft.accounts.includes(_id))
  const platforms = new Set<string>(chosen.map(({ platform }) => platform))
  const ids = chosen.map(({ _id }) => _id)
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
    selectedAccounts: ids,
    platformSpecificContent: variantsOf(platforms),
    accountSpecificContent: variantsOf(new Set(ids)),
    ...(draft.at === null ? { scheduledAt: null } : scheduledFor(draft.at)),
  }
}

function toItem({ storageUrl: _, ...item }: DraftMedia): Schemas['MediaItemInput'] {
  return item
}

/** Returns what the composer edits of a stored post. */
export function fromPost(post: Schemas['Post']): Draft {
  const { content, platformSpecificContent, accountSpecificContent, platformStatuses, scheduledAt, timezone } = post
  return {
    text: content.text,
    media: content.mediaItems,
    accounts: [...new Set(platformStatuses.flatMap(({ accountId }) => accountId ?? []))],
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

/** Returns the deliveries of a stored post to accounts that are no longer connected: storing the post again removes them. */
export function listLost({ platformStatuses }: Schemas['Post'], accounts: Account[]) {
  const connected = new Set(accounts.map(({ _id }) => _id))
  return platformStatuses.filter(({ accountId }) => accountId === null || !connected.has(accountId))
}

/** Returns what is published on an account: its own variant, that of its platform, or what is for all. */
export function contentFor({ text, media, variants }: Draft, { _id, platform }: Account) {
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
