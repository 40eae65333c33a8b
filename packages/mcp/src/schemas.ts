import type { components } from '@postonce/sdk'
import * as z from 'zod/v4'

type Schemas = components['schemas']
type Platform = Schemas['Platform']
type PostStatus = Schemas['PostStatus']
type UnsupportedPolicy = NonNullable<Schemas['OverrideInput']['onUnsupported']>

const MAX_TEXT_LENGTH = 100_000
const MAX_ID_LENGTH = 100
const MAX_ACCOUNTS = 50
const MAX_SEGMENTS = 25
const MAX_GROUPS = 10
const MAX_GROUP_NAME_LENGTH = 200
const MAX_FILTERED_GROUPS = 5
const MAX_FILTERED_GROUP_LENGTH = 60
const MAX_IDEMPOTENCY_KEY_LENGTH = 200
const MAX_HOLD_SECONDS = 120
const MAX_LATE_MINUTES = 1_440

/** Written as objects, so that the compiler reports a value that the API adds or removes. */
const PLATFORMS = {
  bluesky: 'bluesky',
  threads: 'threads',
  instagram: 'instagram',
  facebook: 'facebook',
  mastodon: 'mastodon',
  tumblr: 'tumblr',
} as const satisfies { [P in Platform]: P }

const STATUSES = {
  DRAFT: 'DRAFT',
  PENDING: 'PENDING',
  SCHEDULED: 'SCHEDULED',
  PROCESSING: 'PROCESSING',
  COMPLETED: 'COMPLETED',
  PARTIAL_SUCCESS: 'PARTIAL_SUCCESS',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
} as const satisfies { [S in PostStatus]: S }

const CLIENTS = {
  console: 'console',
  cli: 'cli',
  mcp: 'mcp',
  sdk: 'sdk',
  import: 'import',
  api: 'api',
} as const satisfies { [C in Schemas['PostClient']]: C }

const POLICIES = {
  refuse: 'refuse',
  join: 'join',
  skipPlatform: 'skipPlatform',
} as const satisfies { [P in UnsupportedPolicy]: P }

export const platform = z.enum(PLATFORMS)
export const status = z.enum(STATUSES)
export const client = z.enum(CLIENTS)
export const accountId = z.string().min(1).max(MAX_ID_LENGTH).describe('The accountId of list_accounts')

const group = z.string().min(1).max(MAX_FILTERED_GROUP_LENGTH)

/** Groups whose accounts a list covers, besides the `accounts` that it names. */
export const groupFilter = z
  .array(group)
  .min(1)
  .max(MAX_FILTERED_GROUPS)
  .optional()
  .describe('The accounts of these groups, by the name or groupId of list_accounts')

/** The figures that a read of analytics covers. */
export const analyticsFilters = {
  period: z.enum(['7d', '30d']).optional().describe('The last 7 or 30 days, with today; the default is 30d'),
  from: z.string().max(100).optional().describe('First date (2027-05-01) or date-time, instead of period'),
  to: z.string().max(100).optional().describe('Last date or date-time; at most 400 days in all'),
  platform: platform.optional(),
  accounts: z.array(accountId).min(1).max(MAX_ACCOUNTS).optional().describe('Only these accounts'),
  group: groupFilter,
}

export const postId = z
  .string()
  .regex(/^[\da-f]{24}$/)
  .describe('The postId of the post')

export const ifMatch = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe('The etag of the post as you read it. The call is refused if the post has changed since.')

const text = z.string().max(MAX_TEXT_LENGTH)
const time = z.iso.datetime({ offset: true })

const platformTexts = z
  .strictObject({
    bluesky: text.optional(),
    threads: text.optional(),
    instagram: text.optional(),
    facebook: text.optional(),
    mastodon: text.optional(),
    tumblr: text.optional(),
  } satisfies { [P in Platform]: unknown })
  .describe('Texts that replace `text` on single platforms, for example a shorter one')

const VISIBILITIES = {
  public: 'public',
  unlisted: 'unlisted',
  private: 'private',
} as const satisfies { [V in NonNullable<Schemas['MastodonOptions']['visibility']>]: V }

const LABELS = {
  sexual: 'sexual',
  nudity: 'nudity',
  porn: 'porn',
  'graphic-media': 'graphic-media',
} as const satisfies { [L in NonNullable<Schemas['BlueskyOptions']['labels']>[number]]: L }

const REPLY_GATES = {
  none: 'none',
  mentioned: 'mentioned',
  following: 'following',
  followers: 'followers',
} as const satisfies { [G in NonNullable<Schemas['BlueskyOptions']['replyGate']>[number]]: G }

const REPLY_CONTROLS = {
  everyone: 'everyone',
  following: 'following',
  mentioned: 'mentioned',
  followers: 'followers',
} as const satisfies { [C in NonNullable<Schemas['ThreadsOptions']['replyControl']>]: C }

const KINDS = {
  feed: 'feed',
  reel: 'reel',
  story: 'story',
} as const satisfies { [K in NonNullable<Schemas['InstagramOptions']['kind']>]: K }

const TUMBLR_STATES = {
  published: 'published',
  private: 'private',
} as const satisfies { [S in NonNullable<Schemas['TumblrOptions']['state']>]: S }

const language = z.string().max(MAX_ID_LENGTH).describe('Such as en or pt-BR')

const options = z
  .strictObject({
    mastodon: z
      .strictObject({
        visibility: z.enum(VISIBILITIES).optional(),
        spoilerText: text.optional().describe('A content warning that hides the text'),
        sensitive: z.boolean().optional().describe('Hides the media'),
        language: language.optional(),
        poll: z
          .strictObject({
            options: z.array(text),
            expiresIn: z.int().describe('Seconds; get_limits has the limits of polls'),
            multiple: z.boolean().optional(),
            hideTotals: z.boolean().optional(),
          })
          .optional()
          .describe('Only in a post without media'),
      } satisfies Shape<'MastodonOptions'>)
      .optional(),
    bluesky: z
      .strictObject({
        languages: z.array(language).optional(),
        labels: z.array(z.enum(LABELS)).optional().describe('Content warnings'),
        replyGate: z.array(z.enum(REPLY_GATES)).optional().describe('Who may reply; everyone without it'),
        quoteUrl: text.optional().describe('The address of a Bluesky post to quote'),
      } satisfies Shape<'BlueskyOptions'>)
      .optional(),
    threads: z
      .strictObject({
        replyControl: z.enum(REPLY_CONTROLS).optional().describe('Who may reply; everyone without it'),
        topicTag: text.optional(),
        poll: z
          .strictObject({ options: z.array(text) } satisfies Shape<'ThreadsPoll'>)
          .optional()
          .describe('Only in a post without media'),
        crossreshare: z.boolean().optional().describe('Shows the post as a story of the linked Instagram account, too'),
      } satisfies Shape<'ThreadsOptions'>)
      .optional(),
    instagram: z
      .strictObject({
        kind: z.enum(KINDS).optional().describe('By default a single video is a reel, everything else feed'),
        coverAt: z.number().optional().describe('Of a reel: the frame of the cover, in seconds'),
        collaborators: z.array(text).optional().describe('Usernames without @'),
        userTags: z
          .array(
            z.strictObject({
              username: text,
              mediaItem: z.int().optional().describe('Index of the media item; 0 by default'),
              x: z.number().optional().describe('0 to 1 from the left; required in images'),
              y: z.number().optional().describe('0 to 1 from the top; required in images'),
            } satisfies Shape<'UserTag'>),
          )
          .optional(),
        shareToFeed: z.boolean().optional().describe('Of a reel: false keeps it out of the feed'),
      } satisfies Shape<'InstagramOptions'>)
      .optional(),
    tumblr: z
      .strictObject({
        tags: z.array(text).optional().describe('Besides the hashtags of the text'),
        sourceUrl: text.optional(),
        state: z.enum(TUMBLR_STATES).optional().describe('private: only members of the blog see the post'),
      } satisfies Shape<'TumblrOptions'>)
      .optional(),
  } satisfies Shape<'PostOptions'>)
  .describe('What the post has on single platforms only. Replaces all options; an empty object removes them.')

/** Every field of a schema of the API. */
type Shape<Name extends keyof Schemas> = Record<keyof Schemas[Name], unknown>

/** The parts of a post that an agent writes. */
export const contentFields = {
  text: text.describe('The text of the post'),
  segments: z
    .array(text)
    .max(MAX_SEGMENTS)
    .optional()
    .describe('The texts of the further posts of a thread, each a reply to the one before. Replaces the whole thread.'),
  firstComment: text.optional().describe('A comment of the user below the published post; an empty text is none'),
  onUnsupported: z
    .enum(POLICIES)
    .optional()
    .describe(
      'On platforms without threads or first comments (get_limits): refuse the post (the default), join the texts to one post, or skipPlatform',
    ),
  options: options.optional(),
  platforms: z
    .array(platform)
    .max(Object.keys(PLATFORMS).length)
    .optional()
    .describe('Publishes on the default account of each platform. Pass platforms, accounts or groups.'),
  accounts: z
    .array(accountId)
    .max(MAX_ACCOUNTS)
    .optional()
    .describe('Publishes on these accounts, by the accountId of list_accounts'),
  groups: z
    .array(z.string().min(1).max(MAX_GROUP_NAME_LENGTH))
    .max(MAX_GROUPS)
    .optional()
    .describe('Publishes on the accounts of these groups, by the name or groupId of list_accounts'),
  platformTexts: platformTexts.optional(),
  ifLate: z
    .strictObject({ action: z.enum(['skip', 'ask']), afterMinutes: z.int().min(1).max(MAX_LATE_MINUTES) })
    .optional()
    .describe(
      'What happens when the post could not be sent in time: skip it, or ask, which fails it until retry_post; by default it is sent late',
    ),
}

export const scheduledAt = z
  .union([z.literal('next-slot'), time])
  .describe(
    'When to publish: ISO 8601 with an offset, such as 2027-05-01T09:30:00+02:00 or 2027-05-01T07:30:00Z, in the future; or next-slot, the next free weekly slot of the accounts',
  )

export const holdSeconds = z
  .int()
  .min(0)
  .max(MAX_HOLD_SECONDS)
  .optional()
  .describe(
    'How long the post waits before it is published, so that cancel_post can stop it; by default as the user has set',
  )

export const idempotencyKey = z
  .string()
  .min(1)
  .max(MAX_IDEMPOTENCY_KEY_LENGTH)
  .optional()
  .describe(
    'Calls with one key create one post, also in other sessions. Without it, the same post is created once in a session. Pass a new key to create the same post again on purpose.',
  )

export interface PostContent {
  text?: string | undefined
  segments?: string[] | undefined
  firstComment?: string | undefined
  onUnsupported?: UnsupportedPolicy | undefined
  options?: z.output<typeof options> | undefined
  platforms?: Platform[] | undefined
  accounts?: string[] | undefined
  groups?: string[] | undefined
  platformTexts?: Partial<Record<Platform, string | undefined>> | undefined
  ifLate?: Schemas['IfLate'] | undefined
}

/** Returns the fields of a request that the content sets. Lists whose order has no meaning are sorted, so equal posts are equal bodies. */
export function toContentBody({ platforms, accounts, groups, platformTexts, ifLate, ...texts }: PostContent) {
  const content = toContent(texts)
  const overrides = Object.entries(platformTexts ?? {})
    .filter(([, override]) => override !== undefined)
    .map(([name, override]) => [name, { text: override }])
  return {
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...(platforms ? { selectedPlatforms: [...new Set(platforms)].sort() } : {}),
    ...(accounts ? { selectedAccounts: [...new Set(accounts)].sort() } : {}),
    ...(groups ? { selectedGroups: [...new Set(groups)].sort() } : {}),
    ...(platformTexts ? { platformSpecificContent: Object.fromEntries(overrides) as OverrideInputs } : {}),
    ...(ifLate ? { ifLate } : {}),
  }
}

function toContent({
  text,
  segments,
  firstComment,
  onUnsupported,
  options: own,
}: PostContent): Schemas['OverrideInput'] {
  return {
    ...(text === undefined ? {} : { text }),
    ...(segments ? { segments: segments.map((one) => ({ text: one })) } : {}),
    ...(firstComment === undefined ? {} : { firstComment }),
    ...(onUnsupported === undefined ? {} : { onUnsupported }),
    ...(own ? { options: own as Schemas['PostOptions'] } : {}),
  }
}

type OverrideInputs = NonNullable<Schemas['CreatePost']['platformSpecificContent']>

/** Returns the body of a new post. */
export function toCreateBody(content: PostContent & { text: string }): Schemas['CreatePost'] {
  return { selectedPlatforms: [], ...toContentBody(content), content: { ...toContent(content), text: content.text } }
}
