import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createRequestAjv } from '../../../src/api/plugins/validation.ts'
import { Options } from '../../../src/api/posts/schemas/options.ts'
import { toParts } from '../../../src/domain/posts/parts.ts'
import type { Content, MediaItem, Published } from '../../../src/domain/posts/post.ts'
import { measureText } from '../../../src/domain/posts/posting-rules.ts'
import { preflight } from '../../../src/domain/posts/preflight.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { picture } from '../shared/containers-support.ts'
import { toPreflightTarget } from '../../support/preflight-target.ts'
import { onEveryPlatform } from './each-platform.ts'

/** Other seeds try other documents: `SEED=7 DOCUMENTS=100 npm test -- tests/platforms/suite/accepted.test.ts`. */
const SEED = Number(process.env['SEED'] ?? 1)
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 12)
const CONCURRENT = 4

/** Pieces of text that platforms count or link in ways of their own. */
const PIECES = [
  ...['word ', 'naïve ', 'e\u0301tude ', '漢字', 'नमस्ते ', 'مرحبا ', '\n', '\n\n', '   ', '<b>&amp;</b> '],
  ...['👩‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇩🇪', '1️⃣', '©', '❤', '\u200d', '\u00ad'],
  ...['#tag ', '#täg_2 ', '#1 ', '#🎉 ', '＃full ', '@ann ', '@ann.example ', '@ann@example.com ', 'a@b.example '],
  ...[
    'https://example.com/a?b=c#d ',
    'http://example.com ',
    'example.com/path ',
    'www.example.de ',
    'https://例え.jp/ü ',
  ],
]

const anyText = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(''))
const anyOptions = fc.record(
  {
    mastodon: fc.record(
      {
        visibility: fc.constantFrom('public', 'unlisted', 'private'),
        spoilerText: anyText,
        sensitive: fc.boolean(),
        language: fc.constantFrom('en', 'de'),
        poll: fc.record({
          options: fc.uniqueArray(fc.constantFrom('Yes', 'No', 'Maybe', 'x'.repeat(50), 'x'.repeat(51)), {
            maxLength: 5,
          }),
          expiresIn: fc.constantFrom(60, 300, 86_400, 2_629_746),
        }),
      },
      { requiredKeys: [] },
    ),
    bluesky: fc.record(
      {
        languages: fc.subarray(['en', 'de', 'ja', 'pt-BR']),
        labels: fc.subarray(['sexual', 'nudity', 'graphic-media'] as const),
        replyGate: fc.subarray(['none', 'mentioned', 'following', 'followers'] as const),
      },
      { requiredKeys: [] },
    ),
    threads: fc.record(
      {
        replyControl: fc.constantFrom('everyone', 'following', 'mentioned', 'followers'),
        topicTag: fc.constantFrom('Tea', 'two words', 'ä'.repeat(50)),
        poll: fc.record({
          options: fc.uniqueArray(fc.constantFrom('Yes', 'No', '👍🏽', 'x'.repeat(25), 'x'.repeat(26)), { maxLength: 5 }),
        }),
      },
      { requiredKeys: [] },
    ),
    instagram: fc.record(
      {
        kind: fc.constantFrom('feed', 'reel', 'story'),
        coverAt: fc.constantFrom(0, 1.5, 9),
        collaborators: fc.subarray(['ann', 'bob.b', 'eve_']),
        userTags: fc.array(
          fc.record(
            {
              username: fc.constantFrom('ann', 'bob.b'),
              mediaItem: fc.nat({ max: 3 }),
              x: fc.constantFrom(0, 0.5, 1),
              y: fc.constantFrom(0, 1),
            },
            { requiredKeys: ['username'] },
          ),
          { maxLength: 2 },
        ),
        shareToFeed: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    tumblr: fc.record(
      {
        tags: fc.array(fc.constantFrom('a', 'two words', 'täg')),
        sourceUrl: fc.constant('https://example.com/source'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

/** The shape is checked before the rules. */
const hasShape = createRequestAjv().compile(Options)

onEveryPlatform((subject) => {
  const { platform, rules, world } = subject

  /** Files of several kinds and shapes, from which documents choose. */
  async function makeFiles(): Promise<MediaItem[]> {
    const shapes = [
      [400, 400],
      [1_600, 400],
      [300, 1_200],
      [2_000, 2_100],
    ] as const
    const images = shapes.flatMap(([width, height]) =>
      (['jpeg', 'png', 'webp'] as const).map(async (type) =>
        subject.add(await picture(width, height, { type }), `image/${type}`, 'ä'.repeat(width)),
      ),
    )
    return Promise.all([...images, subject.video('A film')])
  }

  const anyContent = (files: MediaItem[]): fc.Arbitrary<Content> => {
    const anyMedia = fc.oneof(
      fc.constant([]),
      fc.subarray(files, { maxLength: 4 }),
      fc.constantFrom(...files).map((file) => [file]),
    )
    const anySegment = fc.record({ text: anyText, mediaItems: anyMedia })
    const [limit] = rules.text
    /** Some texts are exactly as long as the platform takes. */
    const fill = (text: string) => text + 'x'.repeat(Math.max(0, limit.max - measureText(text, limit).length))
    return fc
      .record(
        {
          text: fc.oneof(anyText, anyText.map(fill)),
          mediaItems: rules.media.required
            ? anyMedia.map((items) => (items.length > 0 ? items : [files[0]!]))
            : anyMedia,
          segments: fc.array(anySegment, { maxLength: 2 }),
          firstComment: anyText,
          onUnsupported: fc.constant('join' as const),
          link: fc.constantFrom('auto' as const, 'none' as const),
          options: anyOptions,
        },
        { requiredKeys: ['text', 'mediaItems', 'onUnsupported'] },
      )
      .map((content) => content as Content)
  }

  /** Publishes all parts of a content, as a delivery does. */
  async function publishAll(content: Content, account: Credentials): Promise<Published[]> {
    const published: Published[] = []
    for (const part of toParts(platform, content)) {
      const [root, parent] = [published[0], published.at(-1)]
      const replyTo = root && parent && { rootId: root.platformPostId, parentId: parent.platformPostId }
      const { options = {} } = content
      const outgoing = { postId: randomUUID(), ...part, options, ...(replyTo && { replyTo }) }
      published.push(await subject.publish(outgoing, account))
    }
    return published
  }

  it('a document that the rules accept is accepted by the platform', async () => {
    const files = await makeFiles()
    const documents = fc.sample(anyContent(files), { seed: SEED, numRuns: DOCUMENTS * 4 })
    const accepted = documents
      .filter(({ options = {} }) => hasShape(options))
      .filter((content) => {
        const { errors } = preflight({ content, platformSpecificContent: {} }, [toPreflightTarget(platform)])
        return errors.length === 0
      })
      .slice(0, DOCUMENTS)
    expect(accepted.length).toBeGreaterThan(DOCUMENTS / 2)
    const refused: unknown[] = []
    const waiting = accepted.values()
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        for (const content of waiting) {
          await publishAll(content, await world().newAccount()).catch((error: unknown) =>
            refused.push([content, error]),
          )
        }
      }),
    )
    expect(refused).toEqual([])
  })
})
