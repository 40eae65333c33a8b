import { Type, type Static } from '@sinclair/typebox'
import { ACCOUNT_HEALTH_STATUSES } from '../../domain/accounts/account-health.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { POST_STATUSES } from '../../domain/posts/post.ts'
import { COMMENT_FORMS, EDIT_OBSTACLES, SEGMENT_FORMS } from '../../domain/posts/posting-rules.ts'
import { Instant, nullable, PlatformName, stringEnum } from '../shared/schemas/common.ts'

export const ConnectBlueskyBody = Type.Object(
  {
    identifier: Type.String({ minLength: 1, maxLength: 320, description: 'Handle or email address' }),
    appPassword: Type.String({ minLength: 1, maxLength: 256, description: 'An app password, not the main password' }),
  },
  { title: 'ConnectBluesky' },
)

export const ConnectQuery = Type.Object({
  replace: Type.Optional(
    stringEnum(['true', 'false'], {
      description:
        '`false` adds an account that is not connected yet; by default it takes the place of the default account of the platform',
    }),
  ),
})

export const LimitsQuery = Type.Object({
  account: Type.Optional(Type.String({ maxLength: 100, description: 'Id of a connected account' })),
})

/** Absent or `null`: the configured instance. */
export const ConnectServerBody = nullable(
  Type.Object(
    {
      instance: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 300,
          description: 'Name of the server, its https address or `@user@server`; absent: the default instance',
          examples: ['mastodon.social'],
        }),
      ),
    },
    { title: 'ConnectMastodon' },
  ),
)

const ProfileSchema = Type.Object(
  {
    displayName: Type.String(),
    handle: Type.String(),
    avatar: nullable(Type.String()),
    description: Type.Optional(Type.String()),
  },
  { title: 'PlatformProfile' },
)

const HealthSchema = Type.Object(
  {
    status: stringEnum(ACCOUNT_HEALTH_STATUSES, { description: '`expiring` means that at most seven days are left' }),
    needsReconnection: Type.Boolean(),
    lastError: nullable(Type.String()),
    checkedAt: nullable(Instant),
    expiresAt: nullable(Instant),
  },
  { title: 'ConnectionHealth' },
)

/** The account on a platform. Every field except `connected` is present only while it is connected. */
export const PlatformAccountSchema = Type.Object(
  {
    connected: Type.Boolean(),
    _id: Type.Optional(Type.String({ description: 'Id of the account here' })),
    platformId: Type.Optional(Type.String({ description: "The account's id on the platform" })),
    profile: Type.Optional(ProfileSchema),
    health: Type.Optional(HealthSchema),
    connectedAt: Type.Optional(Instant),
    did: Type.Optional(Type.String({ description: 'Only for bluesky' })),
    handle: Type.Optional(Type.String({ description: 'Only for bluesky' })),
    instanceUrl: Type.Optional(Type.String({ description: 'Only for mastodon' })),
    accountId: Type.Optional(Type.String({ description: 'Only for mastodon' })),
    blogHostname: Type.Optional(Type.String({ description: 'Only for tumblr' })),
  },
  { title: 'PlatformConnection' },
)

/** A disconnected account, and the posts that still name it. */
export const DisconnectedSchema = Type.Object(
  {
    connected: Type.Boolean(),
    movedPosts: Type.Integer({ description: 'Posts that were moved to another account' }),
    waitingPosts: Type.Array(
      Type.Object({ postId: Type.String(), status: stringEnum(POST_STATUSES), scheduledAt: nullable(Instant) }),
      {
        description:
          'The first 100 posts and drafts for the account. They fail with PLATFORM_NOT_CONNECTED unless it is connected again or they are moved',
      },
    ),
    waitingTotal: Type.Integer(),
  },
  { title: 'DisconnectedAccount' },
)

export const DisconnectQuery = Type.Object({
  movePostsTo: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Id of another account of the platform, to which waiting posts and drafts are moved first. An API key needs `posts:publish`.',
    }),
  ),
})

/** One of several accounts. */
export const AccountSchema = Type.Object(
  {
    _id: Type.String(),
    platform: PlatformName,
    platformId: Type.String({ description: "The account's id on the platform" }),
    server: nullable(Type.String({ description: "URL of the account's server, on platforms with many" })),
    profile: ProfileSchema,
    health: HealthSchema,
    connectedAt: Instant,
    isDefault: Type.Boolean({ description: 'Whether this account is meant where only the platform is named' }),
    label: nullable(Type.String({ description: "The user's own name for the account" })),
  },
  { title: 'Account' },
)

export const OfferSchema = Type.Object(
  {
    platform: PlatformName,
    accounts: Type.Array(
      Type.Object({
        platformId: Type.String({ description: "The account's id on the platform" }),
        profile: ProfileSchema,
        connected: Type.Boolean(),
        problem: nullable(Type.String({ description: 'Why it cannot be connected; null when it can' })),
      }),
    ),
  },
  { title: 'AccountOffer' },
)

export const ChosenAccounts = Type.Object(
  {
    platformIds: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 20, uniqueItems: true }),
    replace: Type.Optional(
      Type.Boolean({ default: false, description: 'The first one takes the place of the default account' }),
    ),
  },
  { title: 'ChosenAccounts' },
)

export type AccountView = Static<typeof AccountSchema>

export const AccountChange = Type.Object(
  {
    isDefault: Type.Optional(Type.Literal(true, { description: 'Makes this account the default of its platform' })),
    label: Type.Optional(nullable(Type.String({ maxLength: 100, description: '`null` or spaces remove it' }))),
  },
  { title: 'AccountChange' },
)

export type PresentedAccount = Static<typeof PlatformAccountSchema>

const forEachPlatform = <T>(value: T) =>
  Object.fromEntries(PLATFORMS.map((platform) => [platform, value])) as Record<Platform, T>

export const PlatformAccountsSchema = Type.Object(forEachPlatform(PlatformAccountSchema))

const KindLimits = Type.Object(
  {
    max: Type.Integer(),
    types: Type.Array(Type.String()),
    maxBytes: Type.Integer({ description: 'The largest file that the media upload and the platform both accept' }),
    seconds: Type.Optional(
      Type.Object(
        { min: Type.Optional(Type.Integer()), max: Type.Integer() },
        { description: 'Length of a video; absent when unlimited' },
      ),
    ),
    pixels: Type.Optional(Type.Integer({ description: 'Pixels of a frame of a video; absent when unlimited' })),
    width: Type.Optional(Type.Integer({ description: 'Pixels of a row of a video; absent when unlimited' })),
    frameRate: Type.Optional(
      Type.Object(
        { min: Type.Optional(Type.Integer()), max: Type.Integer() },
        { description: 'Frames a second of a video; absent when unlimited' },
      ),
    ),
    indexFirst: Type.Optional(
      Type.Literal(true, { description: 'A video with its index (moov) at the end is a warning' }),
    ),
    codecs: Type.Optional(Type.Array(Type.String(), { description: 'Video codecs; absent when any is converted' })),
  },
  { title: 'MediaLimits' },
)

const PublicationQuota = Type.Object(
  {
    limit: Type.Integer({ description: 'Posts in the window' }),
    used: Type.Integer(),
    windowSeconds: Type.Integer({ description: 'The length of the sliding window' }),
    waiting: Type.Integer({ description: 'Posts that are due and wait for their turn' }),
    nextFreeAt: nullable(Instant),
    resetsAt: nullable(Instant),
  },
  {
    title: 'PublicationQuota',
    description:
      '`nextFreeAt` is `null` when another post can be published now, and `resetsAt` when no post counts any more',
  },
)

const TextLimit = Type.Object({ unit: Type.String(), max: Type.Integer(), linkLength: Type.Optional(Type.Integer()) })

const PollRange = Type.Object({ min: Type.Integer(), max: Type.Integer() })

/** Limits that are different for reels and stories. */
const kindLimits = {
  media: Type.Object({
    required: Type.Boolean(),
    max: Type.Integer({ description: 'Images and videos together' }),
    mix: Type.Boolean({ description: 'True when a post may contain both images and videos' }),
    image: KindLimits,
    video: KindLimits,
  }),
  altText: Type.Object({
    image: nullable(Type.Integer({ description: 'Maximum length in characters' })),
    video: nullable(Type.Integer({ description: 'Maximum length in characters' })),
  }),
  thread: Type.Object({
    segments: stringEnum(SEGMENT_FORMS, {
      description:
        'How `segments` are published: as `replies`, `joined` to one long post, or `none`, where `onUnsupported` decides',
    }),
    firstComment: stringEnum(COMMENT_FORMS, {
      description:
        'How `firstComment` is published: as a `reply`, which has the limits of a post, as a `comment`, or `none`, where `onUnsupported` decides',
    }),
    commentLength: Type.Optional(
      Type.Integer({ description: 'Maximum length of a `comment` in characters; absent for the other forms' }),
    ),
  }),
}

const KindOfPostLimits = Type.Object(kindLimits, { title: 'KindOfPostLimits' })

const PlatformLimits = Type.Object(
  {
    text: Type.Array(TextLimit, { description: 'Every limit applies' }),
    uncertainAbove: Type.Optional(
      Type.Object(TextLimit.properties, { description: 'Longer texts are a warning: the platform may refuse them' }),
    ),
    parts: Type.Optional(
      Type.Object(
        {
          hashtags: Type.Optional(Type.Integer()),
          mentions: Type.Optional(Type.Integer()),
          links: Type.Optional(Type.Integer()),
        },
        { description: 'Maximum number of each in a text; absent when unlimited' },
      ),
    ),
    ...kindLimits,
    removable: Type.Boolean({ description: 'True when `takeBackPost` can remove published posts' }),
    editable: Type.Boolean({ description: 'True when `editPublishedPost` can edit published posts' }),
    notEditableWith: Type.Optional(
      Type.Array(stringEnum(EDIT_OBSTACLES), { description: 'Posts with one of these cannot be edited' }),
    ),
    kinds: Type.Optional(
      Type.Object(
        { reel: Type.Optional(KindOfPostLimits), story: Type.Optional(KindOfPostLimits) },
        { description: 'What is different for other kinds of posts, by `options.<platform>.kind`' },
      ),
    ),
    options: Type.Array(Type.String(), { description: 'Names of the `options` of a post on the platform' }),
    poll: Type.Optional(
      Type.Object(
        {
          options: PollRange,
          optionLength: Type.Integer({ description: 'Maximum length of an option' }),
          unit: Type.String({ description: 'Of `optionLength`, as in `text`' }),
          expiresIn: Type.Optional(
            Type.Object(PollRange.properties, { description: 'Seconds; absent where the platform decides it' }),
          ),
        },
        { description: 'The limits of `options.<platform>.poll`; absent when posts have no polls' },
      ),
    ),
    publications: Type.Optional(
      Type.Array(PublicationQuota, {
        description:
          'What the platform accepts of the connected account; absent where no limit is known. Every limit applies',
      }),
    ),
  },
  { title: 'PlatformLimits' },
)

export const LimitsSchema = Type.Object(forEachPlatform(PlatformLimits))

/** The description of the routes that refresh an account. */
export const REFRESH_LIMIT =
  'Calls the platform ten times in ten minutes at most. Beyond that it returns the stored profile.'
