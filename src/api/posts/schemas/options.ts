import { Type, type TObject } from '@sinclair/typebox'
import {
  BLUESKY_LABELS,
  BLUESKY_REPLY_GATES,
  MASTODON_VISIBILITIES,
  POST_KINDS,
  THREADS_REPLY_CONTROLS,
  TUMBLR_STATES,
} from '../../../domain/posts/options.ts'
import type { Platform } from '../../../domain/shared/platforms.ts'
import { stringEnum } from '../../shared/schemas/common.ts'

/** An option that a platform does not have is refused, because a post that lacks it may be what its author did not want to publish. */
const closed = { additionalProperties: false }

const LANGUAGE = { pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$', examples: ['en'] }
const MAX_TAGS = 30

const pollOptions = Type.Array(Type.String({ maxLength: 500 }), { maxItems: 20, examples: [['Yes', 'No']] })

const Poll = Type.Object(
  {
    options: pollOptions,
    expiresIn: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Seconds from the publication on' }),
    multiple: Type.Optional(Type.Boolean()),
    hideTotals: Type.Optional(Type.Boolean({ description: 'Hides the counts until the poll ends' })),
  },
  { ...closed, title: 'Poll' },
)

const MastodonOptions = Type.Object(
  {
    visibility: Type.Optional(stringEnum(MASTODON_VISIBILITIES, { description: 'By default that of the account' })),
    spoilerText: Type.Optional(
      Type.String({ maxLength: 5_000, description: 'A content warning behind which the text is hidden' }),
    ),
    sensitive: Type.Optional(Type.Boolean({ description: 'Hides the media' })),
    language: Type.Optional(Type.String(LANGUAGE)),
    poll: Type.Optional(Poll),
  },
  { ...closed, title: 'MastodonOptions' },
)

const BlueskyOptions = Type.Object(
  {
    languages: Type.Optional(Type.Array(Type.String(LANGUAGE), { maxItems: 3, uniqueItems: true })),
    labels: Type.Optional(
      Type.Array(stringEnum(BLUESKY_LABELS), { uniqueItems: true, description: 'Content warnings' }),
    ),
    replyGate: Type.Optional(
      Type.Array(stringEnum(BLUESKY_REPLY_GATES), {
        uniqueItems: true,
        minItems: 1,
        description: 'Who may reply: `none`, or any of the others; everyone without it',
      }),
    ),
    quoteUrl: Type.Optional(Type.String({ maxLength: 2_000, description: 'The address of a Bluesky post to quote' })),
  },
  { ...closed, title: 'BlueskyOptions' },
)

const ThreadsOptions = Type.Object(
  {
    replyControl: Type.Optional(
      stringEnum(THREADS_REPLY_CONTROLS, { description: 'Who may reply to the posts of the thread' }),
    ),
    topicTag: Type.Optional(
      Type.String({ minLength: 1, maxLength: 50, pattern: '^[^.&]+$', description: 'The topic of the post' }),
    ),
    poll: Type.Optional(Type.Object({ options: pollOptions }, { ...closed, title: 'ThreadsPoll' })),
    crossreshare: Type.Optional(
      Type.Boolean({
        description:
          'Shows the post as a story of the linked Instagram account, too. Needs the permission threads_share_to_instagram. A `warning` says when there is no story.',
      }),
    ),
  },
  { ...closed, title: 'ThreadsOptions' },
)

const username = Type.String({ maxLength: 30, pattern: '^[A-Za-z0-9_.]+$', description: 'Without @' })
const part = (of: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: `Part of the ${of}` }))

const UserTag = Type.Object(
  {
    username,
    mediaItem: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 19, description: 'Index in the media of the post; 0 by default' }),
    ),
    x: part('width from the left; required in images'),
    y: part('height from the top; required in images'),
  },
  { ...closed, title: 'UserTag' },
)

const InstagramOptions = Type.Object(
  {
    kind: Type.Optional(
      stringEnum(POST_KINDS, {
        description: 'By default a single video is a `reel`, everything else `feed`. A `story` ends after 24 hours.',
      }),
    ),
    coverAt: Type.Optional(
      Type.Number({ minimum: 0, maximum: 900, description: 'Of a reel: the frame of the cover, in seconds' }),
    ),
    collaborators: Type.Optional(Type.Array(username, { maxItems: 3, uniqueItems: true })),
    userTags: Type.Optional(Type.Array(UserTag, { maxItems: 20 })),
    shareToFeed: Type.Optional(Type.Boolean({ description: 'Of a reel: `false` keeps it out of the feed' })),
  },
  { ...closed, title: 'InstagramOptions' },
)

const TumblrOptions = Type.Object(
  {
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 139, pattern: '^[^,]+$' }), {
        maxItems: MAX_TAGS,
        uniqueItems: true,
        description: 'Tags besides the hashtags of the text',
      }),
    ),
    sourceUrl: Type.Optional(Type.String({ maxLength: 2_000, format: 'uri', description: 'The source to credit' })),
    state: Type.Optional(
      stringEnum(TUMBLR_STATES, { description: '`private`: only members of the blog see it; `published` by default' }),
    ),
  },
  { ...closed, title: 'TumblrOptions' },
)

/** The options of a content by platform, in requests and responses. */
export const Options = Type.Partial(
  Type.Object(
    {
      mastodon: MastodonOptions,
      bluesky: BlueskyOptions,
      threads: ThreadsOptions,
      instagram: InstagramOptions,
      tumblr: TumblrOptions,
    },
    closed,
  ),
  {
    title: 'PostOptions',
    description: 'What the post has on one platform only; only first posts of threads have polls, quotes and topics',
  },
)

/** Returns the names of the options of a platform. */
export function listOptionNames(platform: Platform): string[] {
  const platforms: Partial<Record<Platform, TObject>> = Options.properties
  return Object.keys(platforms[platform]?.properties ?? {})
}
