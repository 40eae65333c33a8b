import { Type } from '@sinclair/typebox'
import { MAX_POST_ACCOUNTS } from '../../../domain/accounts/selection.ts'
import { NAMED_CLIENTS, UNSUPPORTED_POLICIES } from '../../../domain/posts/post.ts'
import { PAST_TIMES } from '../../../domain/posts/preflight.ts'
import { MAX_MEDIA_ITEMS, MAX_SEGMENTS, MAX_TEXT_LENGTH } from '../../../domain/posts/posting-rules.ts'
import { LONGEST_LINK } from '../../../domain/shared/links.ts'
import { PLATFORMS } from '../../../domain/shared/platforms.ts'
import { IfMatchHeader } from '../../shared/etags.ts'
import { PlatformName, stringEnum } from '../../shared/schemas/common.ts'
import { ProblemSchema } from '../../shared/schemas/envelope.ts'
import { HOLD_RANGE, IfLateSchema, mediaItemFields } from './fields.ts'
import { linkSchema } from './link.ts'
import { Options } from './options.ts'

/** Groups that a post names. */
const MAX_POST_GROUPS = 10

const MediaItemInput = Type.Object(
  {
    ...mediaItemFields,
    storageKey: Type.Optional(mediaItemFields.storageKey),
    sourceUrl: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: LONGEST_LINK, examples: ['https://example.com/picture.jpg'] },
        description:
          'The address of a public file, in place of `storageKey`. It is fetched and stored when the post is stored: an image up to 10 MB, a video up to 100 MB. Upload larger videos.',
      }),
    ),
  },
  { title: 'MediaItemInput' },
)

const mediaItemsInput = Type.Array(MediaItemInput, {
  maxItems: MAX_MEDIA_ITEMS,
  description: `At most ${MAX_MEDIA_ITEMS}; each platform has its own, lower limit`,
})

const textInput = Type.String({ maxLength: MAX_TEXT_LENGTH, examples: ['Good morning, everyone'] })

const SegmentInput = Type.Object(
  { text: Type.Optional(textInput), mediaItems: Type.Optional(mediaItemsInput) },
  { title: 'SegmentInput' },
)

/** The fields of a content besides its text. */
const contentFields = {
  mediaItems: Type.Optional(mediaItemsInput),
  segments: Type.Optional(
    Type.Array(SegmentInput, {
      maxItems: MAX_SEGMENTS,
      description: `Further posts of a thread, each a reply to the one before; at most ${MAX_SEGMENTS}`,
      examples: [[{ text: 'Second post of the thread' }]],
    }),
  ),
  firstComment: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT_LENGTH,
      description: 'A comment or reply of yours below the published post. Its failure is no failure of the post.',
    }),
  ),
  onUnsupported: Type.Optional(
    stringEnum(UNSUPPORTED_POLICIES, {
      description:
        'On platforms that publish no `segments` or no `firstComment`: `refuse` the post (the default), `join` the texts to one post, or `skipPlatform`',
    }),
  ),
  options: Type.Optional(Options),
  link: Type.Optional(linkSchema(MediaItemInput, 'LinkCardInput')),
}

const OverrideInput = Type.Object({ text: Type.Optional(textInput), ...contentFields }, { title: 'OverrideInput' })

/** Rejects unknown platforms instead of dropping them: a mistyped name would silently publish the wrong text. */
const OverridesInput = Type.Partial(
  Type.Object({
    bluesky: OverrideInput,
    threads: OverrideInput,
    instagram: OverrideInput,
    facebook: OverrideInput,
    mastodon: OverrideInput,
    tumblr: OverrideInput,
  }),
  {
    propertyNames: { enum: [...PLATFORMS] },
    maxProperties: PLATFORMS.length,
    description: 'Per platform, replaces the same part of `content`',
    examples: [{ bluesky: { text: 'Good morning, Bluesky' } }],
  },
)

const selectedPlatforms = Type.Array(PlatformName, {
  maxItems: PLATFORMS.length,
  uniqueItems: true,
  description:
    'Publishes on the default account of each. At least one platform, account or group is required. In an update, a platform that the post has only through accounts or groups means those.',
  examples: [['bluesky']],
})

const selectedAccounts = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: MAX_POST_ACCOUNTS,
  uniqueItems: true,
  description:
    'Ids of further accounts to publish on (`GET /api/platform/accounts`). An update of the platforms without it keeps the accounts on those that stay.',
})

const selectedGroups = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: MAX_POST_GROUPS,
  uniqueItems: true,
  description:
    'Ids or names of groups (`GET /api/groups`) to publish on the accounts that they have now. An account counts once, however often it is selected. `updatePost` reads the groups that it names again, and `replacePost` only those that the post did not have.',
  examples: [['Northern brand']],
})

const AccountOverridesInput = Type.Record(Type.String({ pattern: '^[0-9a-f]{24}$' }), OverrideInput, {
  additionalProperties: false,
  maxProperties: MAX_POST_ACCOUNTS,
  description: 'Per account id, replaces the same part of `platformSpecificContent` and `content`',
})

const scheduledAt = Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
  description:
    'ISO 8601. A value with an offset or zone is an instant; without one it is local time in `timezone`. `next-slot` is the next free slot of the first group, account or platform of the post that has slots (`PUT /api/slots`); a draft takes none. Null publishes now. A past time publishes now in `createPost` without `past=refuse`; everything else refuses it.',
  examples: ['2027-05-01T09:30:00+02:00', '2027-05-01T09:30'],
})

const holdSeconds = Type.Integer({
  ...HOLD_RANGE,
  description:
    'How long an immediate post waits before it is published, in place of your setting. It can be cancelled and edited meanwhile. Drafts and scheduled posts ignore it; an update of a waiting post begins the wait anew.',
  examples: [30],
})

const ifLate = Type.Union([IfLateSchema, Type.Null()], {
  description: 'What becomes of the post if nothing of it could be sent in time; null, as by default, sends it late',
})

const timezoneOptions = { maxLength: 100, description: 'IANA timezone', examples: ['Europe/Berlin'] }

const status = stringEnum(['DRAFT', 'PENDING', 'SCHEDULED'] as const, {
  description: 'DRAFT prevents publication. PENDING and SCHEDULED are equivalent: `scheduledAt` decides between them.',
})

const correlationId = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'Idempotency key, as an alternative to the header. A repeated request with the same key and body returns the first response.',
})

const wholePost = {
  content: Type.Object({ text: textInput, ...contentFields }),
  selectedPlatforms: Type.Optional(selectedPlatforms),
  selectedAccounts: Type.Optional(selectedAccounts),
  selectedGroups: Type.Optional(selectedGroups),
  platformSpecificContent: Type.Optional(OverridesInput),
  accountSpecificContent: Type.Optional(AccountOverridesInput),
  scheduledAt: Type.Optional(scheduledAt),
  holdSeconds: Type.Optional(holdSeconds),
  ifLate: Type.Optional(ifLate),
  timezone: Type.Optional(
    Type.String({ ...timezoneOptions, default: 'UTC', description: 'IANA timezone; the default is UTC' }),
  ),
  status: Type.Optional(status),
}

const EXAMPLE = {
  content: { text: 'Good morning, everyone' },
  selectedPlatforms: ['bluesky'],
  scheduledAt: '2027-05-01T09:30',
  timezone: 'Europe/Berlin',
}

export const CreatePostBody = Type.Object(
  { ...wholePost, correlationId: Type.Optional(correlationId) },
  { title: 'CreatePost', examples: [EXAMPLE] },
)

export const PastQuery = Type.Object({
  past: Type.Optional(
    stringEnum(PAST_TIMES, {
      description: 'What a past `scheduledAt` means unless the post is a draft; `publish` by default',
    }),
  ),
})

export const ReplacePostBody = Type.Object(wholePost, { title: 'ReplacePost', examples: [EXAMPLE] })

export const PatchPostBody = Type.Partial(
  Type.Object({
    content: Type.Object({ text: Type.Optional(textInput), ...contentFields }),
    selectedPlatforms,
    selectedAccounts,
    selectedGroups,
    platformSpecificContent: OverridesInput,
    accountSpecificContent: AccountOverridesInput,
    scheduledAt,
    holdSeconds,
    ifLate,
    timezone: Type.String(timezoneOptions),
    status,
  }),
  { title: 'UpdatePost', examples: [{ content: { text: 'Good evening, everyone' } }] },
)

export const PreferHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: '`handling=strict` refuses fields that the API does not know. API keys always do.' }),
  ),
})

export const ClientHeaders = Type.Object({
  'x-postonce-client': Type.Optional(
    stringEnum<(typeof NAMED_CLIENTS)[number]>(NAMED_CLIENTS, { description: 'The program that writes the post' }),
  ),
})

export const EditPostHeaders = Type.Object({ ...PreferHeaders.properties, ...IfMatchHeader })

export const CreatePostHeaders = Type.Object({
  ...PreferHeaders.properties,
  ...ClientHeaders.properties,
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A repeated request with the same key and body returns the first response.',
    }),
  ),
})

const reportFields = {
  length: Type.Integer({
    description: 'Text length as the platform counts it. Counting stops at ten times `limit`.',
  }),
  limit: Type.Integer(),
  media: Type.Integer({ description: 'Number of media items' }),
}

const PlatformReport = Type.Object(
  {
    ...reportFields,
    parts: Type.Optional(
      Type.Array(Type.Object(reportFields, { title: 'PartReport' }), {
        description: 'Further posts of a thread, and the first comment',
      }),
    ),
  },
  { title: 'PlatformReport' },
)

export const ValidationReport = Type.Object(
  {
    valid: Type.Boolean(),
    errors: Type.Array(ProblemSchema),
    warnings: Type.Array(ProblemSchema),
    platforms: Type.Record(Type.String(), PlatformReport),
    accounts: Type.Optional(
      Type.Record(Type.String(), PlatformReport, { description: 'By id, of selected accounts and groups' }),
    ),
    nextSlot: Type.Optional(
      Type.String({ format: 'date-time', description: 'The slot that a post for the next slot would take now' }),
    ),
  },
  { title: 'ValidationReport' },
)
