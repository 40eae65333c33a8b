import type { components } from '@postonce/sdk'
import { NEXT_SLOT, scheduledFor, toWallTime, type WallTime } from '../../shared/wall-times.ts'

type Schemas = components['schemas']
type Account = Pick<Schemas['Account'], '_id' | 'platform'>

/** A media item with the address that shows it. */
export type DraftMedia = Schemas['MediaItemInput'] & { storageKey: string; storageUrl: string }

/** A further post of a thread. */
export interface Segment {
  /** Stays when the posts are reordered, and is no part of the stored post. */
  id: string
  text: string
  media: DraftMedia[]
}

export type Options = Schemas['PostOptions']
export type UnsupportedPolicy = NonNullable<Schemas['PostContent']['onUnsupported']>

/** The content for all accounts or for some. */
export interface Content {
  text: string
  media: DraftMedia[]
  segments: Segment[]
  /** Empty without a comment. */
  firstComment: string
  onUnsupported: UnsupportedPolicy
  options: Options
}

/** The content that differs for a platform or an account; an absent part is the same as for all. */
export type Variant = Partial<Content>

/** Everything that the composer edits. */
export interface Draft extends Content {
  /** Ids of the accounts to publish on. */
  accounts: string[]
  /** By a platform or the id of an account. */
  variants: Record<string, Variant>
  /** Null publishes now. */
  at: WallTime | typeof NEXT_SLOT | null
  /** Null sends the post late. */
  ifLate: Schemas['IfLate'] | null
}

export const emptyDraft = (accounts: string[]): Draft => ({
  text: '',
  media: [],
  segments: [],
  firstComment: '',
  onUnsupported: 'refuse',
  options: {},
  accounts,
  variants: {},
  at: null,
  ifLate: null,
})

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

/** Whether a post can be made of it: a variant alone is none, and neither is a comment. */
export const isEmpty = ({ text, media, segments }: Draft): boolean =>
  [{ text, media }, ...segments].every((part) => part.text.trim() === '' && part.media.length === 0)

/** Whether two drafts make the same post. */
export function isSame(one: Draft, other: Draft): boolean {
  const comparable = ({ accounts, ...rest }: Draft) =>
    JSON.stringify({ ...rest, accounts: accounts.toSorted() }, withoutOrder)
  return comparable(one) === comparable(other)
}

/** Sorts the fields of objects, and leaves out the ids of segments. */
function withoutOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { id: _id, ...fields } = value as Record<string, unknown>
  return Object.fromEntries(Object.entries(fields).toSorted(([field], [next]) => (field < next ? -1 : 1)))
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
        .filter(([key]) => keys.has(key))
        .map(([key, variant]) => [key, toContent(variant)])
        .filter(([, variant]) => Object.keys(variant!).length > 0),
    )
  const { text, media, segments, firstComment, onUnsupported } = draft
  const options = Object.fromEntries(Object.entries(draft.options).filter(([platform]) => platforms.has(platform)))
  return {
    // Complete, because an absent part keeps what is stored.
    content: { text, ...toContent({ media, segments, firstComment, onUnsupported, options }) },
    selectedPlatforms: [],
    selectedAccounts: ids,
    platformSpecificContent: variantsOf(platforms),
    accountSpecificContent: variantsOf(new Set(ids)),
    ifLate: draft.ifLate ?? null,
    ...(draft.at === null || draft.at === NEXT_SLOT ? { scheduledAt: draft.at } : scheduledFor(draft.at)),
  }
}

function toContent({ media, segments, ...rest }: Variant): Schemas['OverrideInput'] {
  return withoutUndefined({
    ...rest,
    mediaItems: media?.map(toItem),
    segments: segments?.map((segment) => ({ text: segment.text, mediaItems: segment.media.map(toItem) })),
  })
}

function toItem({ storageUrl: _, ...item }: DraftMedia): Schemas['MediaItemInput'] {
  return item
}

type Present<T> = { [field in keyof T]: Exclude<T[field], undefined> }

const withoutUndefined = <T extends object>(fields: T): Partial<Present<T>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Present<T>>

/** Returns what the composer edits of a stored post. */
export function fromPost(post: Schemas['Post']): Draft {
  const { content, platformSpecificContent, accountSpecificContent, platformStatuses, ...rest } = post
  const { scheduledAt, timezone, ifLate = null } = rest
  const delivered = platformStatuses.flatMap(({ accountId }) => accountId ?? [])
  return {
    ...emptyDraft([]),
    ...fromContent(content),
    // Accounts that the post leaves out have no entry.
    accounts: [...new Set([...delivered, ...(post.selectedAccounts ?? [])])],
    variants: Object.fromEntries(
      Object.entries({ ...platformSpecificContent, ...accountSpecificContent }).map(([key, variant]) => [
        key,
        fromContent(variant ?? {}),
      ]),
    ),
    at: scheduledAt === null ? null : { time: toWallTime(scheduledAt, timezone), timezone },
    ifLate,
  }
}

function fromContent({ mediaItems, segments, ...rest }: Schemas['PostContentOverride']): Variant {
  return withoutUndefined({
    ...rest,
    media: mediaItems,
    segments: segments?.map(({ text, mediaItems: media }, index) => ({ id: `${index}`, text, media })),
  })
}

/** Returns the deliveries of a stored post to accounts that are no longer connected: storing the post again removes them. */
export function listLost({ platformStatuses }: Schemas['Post'], accounts: Account[]) {
  const connected = new Set(accounts.map(({ _id }) => _id))
  return platformStatuses.filter(({ accountId }) => accountId === null || !connected.has(accountId))
}

/** Returns what is published on an account: each part from its own variant, that of its platform, or what is for all. */
export function contentFor(draft: Draft, { _id, platform }: Account): Content {
  const { accounts: _, variants, at: _at, ifLate: _ifLate, ...content } = draft
  return { ...content, ...variants[platform], ...variants[_id] }
}

/** Parts of a variant to replace; undefined makes a part the same as for all. */
export type VariantChange = { [part in keyof Content]?: Content[part] | undefined }

/** Returns the draft with parts of a variant replaced, or taken away. */
export function withVariant(draft: Draft, key: string, change: VariantChange): Draft {
  const variant: Variant = withoutUndefined({ ...draft.variants[key], ...change })
  const { [key]: _, ...others } = draft.variants
  return { ...draft, variants: Object.keys(variant).length === 0 ? others : { ...others, [key]: variant } }
}
