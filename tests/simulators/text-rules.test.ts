import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { statusLength } from '../../sandbox/platforms/mastodon/text.ts'
import { readBlocks } from '../../sandbox/platforms/tumblr/blocks.ts'
import { preflight } from '../../src/domain/posts/preflight.ts'
import { countText, POSTING_RULES } from '../../src/domain/posts/posting-rules.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { formatText } from '../../src/platforms/tumblr/content.ts'
import { call, mastodonWorld, type MastodonWorld } from '../platforms/mastodon/mastodon-support.ts'
import {
  instagramWorld,
  threadsWorld,
  type InstagramWorld,
  type ThreadsWorld,
} from '../platforms/shared/containers-support.ts'
import { VERSION } from '../platforms/shared/meta-support.ts'
import { memoryMedia } from '../platforms/shared/support.ts'
import { toPreflightTarget } from '../support/preflight-target.ts'

const { media } = memoryMedia()
const ROOM = { max: 1_000_000, seconds: 300 }
let mastodon: MastodonWorld
let threads: ThreadsWorld
let instagram: InstagramWorld
/** Sends a text to a simulator without our service, and returns true if it is accepted. */
let send: Record<'mastodon' | 'threads' | 'instagram', (text: string) => Promise<boolean>>

beforeAll(async () => {
  mastodon = await mastodonWorld(media, { rateLimits: { api: ROOM, media: ROOM, statuses: ROOM } })
  threads = await threadsWorld(media)
  instagram = await instagramWorld(media)
  const [onMastodon, onThreads, onInstagram] = [
    await mastodon.newAccount(),
    await threads.newAccount(),
    await instagram.newAccount(),
  ]
  const create = async (url: string, params: Record<string, string>) => {
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams(params) })
    return { isMade: response.ok, error: await response.text() }
  }
  send = {
    async mastodon(status) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ status })
      const token = onMastodon.accessToken
      return (
        (await call(mastodon.mastodon.url, '/api/v1/statuses', { method: 'POST', token, body, headers })).status === 200
      )
    },
    async threads(text) {
      const url = `${threads.threads.url}/v1.0/${onThreads.accountId}/threads`
      return (await create(url, { text, media_type: 'TEXT', access_token: onThreads.accessToken })).isMade
    },
    // The caption is checked before the file, which is missing.
    async instagram(caption) {
      const url = `${instagram.instagram.url}/${VERSION}/${onInstagram.accountId}/media`
      return (await create(url, { caption, access_token: onInstagram.accessToken })).error.includes('image_url')
    },
  }
})
afterAll(async () => {
  await mastodon?.stop()
  await threads?.stop()
  await instagram?.stop()
})

const image = { storageKey: 'k', storageUrl: 'u', mimeType: 'image/jpeg' }

function isAccepted(platform: Platform, text: string): boolean {
  const content = { text, mediaItems: platform === 'instagram' ? [image] : [] }
  return preflight({ content, platformSpecificContent: {} }, [toPreflightTarget(platform)]).errors.length === 0
}

/** Parts of texts that counters disagree about. */
const PIECES = [
  ...[
    'https://',
    'http://',
    'HTTPS://',
    'gemini://',
    'www.',
    'example',
    '.com',
    '.co.uk',
    '.рф',
    '.भारत',
    '.music',
    '.test',
  ],
  ...[
    'localhost',
    '127.0.0.1',
    '[::1]',
    'printer.local',
    'xn--e1afmkfd.xn--p1ai',
    'foo_bar.com',
    '例え.jp',
    'https://t.co/abc',
  ],
  ...[':8080', '/', '/wiki/Mercury', '_(planet)', '（曖昧）', '((a)b)', '(', ')', '?q=', '&x=1', '#part', '%20', '='],
  ...[
    '.',
    ',',
    '…',
    '“',
    '”',
    '’s',
    "'s",
    '，',
    '。',
    '！',
    '\u3000',
    '\u00a0',
    '\u200e',
    '\u200b',
    '\u200d',
    '\u200c',
  ],
  ...['日本語', 'नमस्ते', 'สวัสดี', 'e\u0301', 'é', '👨‍👩‍👧', '👍🏽', '🏽', '🇩🇪', '1\ufe0f\u20e3', '©', '❤', '❤\ufe0f', 'ß', 'א'],
  ...[
    '@',
    '@ann',
    '@ann@social.example',
    '@a.b-c@host',
    'ann@example.com',
    '#tag',
    '#नमस्ते',
    '＃',
    '＠',
    '#a#b',
    '$',
    '\\',
  ],
  ...['a', 'Z', '7', '-', '_', '!', '<', '>', '"', ' ', ' ', ' ', '\n', '\n\n'],
]
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => `x${pieces.join('')} x`)
/** Links in sentences of several scripts. */
const link = fc
  .tuple(
    fc.constantFrom('https://', 'http://www.', 'www.', ''),
    fc.constantFrom(
      'a.com',
      'b.co.uk',
      'пример.рф',
      'a.com/x(y)',
      'a.com/日本',
      'c.org:8080/p?q=1#f',
      'node.js',
      'e.g',
      '3.14',
    ),
    fc.constantFrom('', '.', ',', '…', '”', '’s', '，谢谢', '）', ')', '?!', '\u200e'),
  )
  .map((parts) => parts.join(''))
const listOfLinks = fc.array(link, { minLength: 4, maxLength: 9 }).map((links) => links.join(' '))
const names = fc
  .array(fc.constantFrom('#a', '＃b', '#नमस्ते', '@ann', '＠ann', 'x#c', '&#1', '# ', '@ ', ' '), {
    minLength: 30,
    maxLength: 70,
  })
  .map((parts) => parts.join(''))

/** Extends a text so that it has its platform's maximal length, or one more or less. */
function toLimit(platform: Platform, given: string, more: number): string {
  const [{ unit, max }] = POSTING_RULES[platform].text
  return `${given} ${'y'.repeat(Math.max(0, max + more - 1 - countText(given, unit)))}`
}

it.each([
  ['mastodon', text],
  ['threads', text],
  ['threads', listOfLinks],
  ['instagram', text],
  ['instagram', names],
] as const)(
  '%s accepts exactly the texts that preflight accepts (%#)',
  async (platform, texts) => {
    const property = fc.asyncProperty(texts, fc.constantFrom(-1, 0, 1), async (given, more) => {
      for (const sent of [given, toLimit(platform, given, more)].map((each) => each.trim())) {
        expect(await send[platform](sent), JSON.stringify(sent)).toBe(isAccepted(platform, sent))
      }
    })
    await fc.assert(property, { numRuns: 80 })
  },
  60_000,
)

it('mastodon counts every text as the server does', () => {
  const property = fc.property(text, (given) => {
    expect(countText(given, 'graphemesLinksAs23')).toBe(statusLength(given, '', 23))
  })
  fc.assert(property, { numRuns: 1_000 })
})

it('tumblr accepts every text that preflight accepts, with its links and tags', () => {
  const property = fc.property(text, (given) => {
    const { blocks } = formatText(given)
    expect(() => readBlocks(blocks)).not.toThrow()
    for (const { formatting = [], text: block } of blocks) {
      for (const { start, end, url } of formatting) expect([...block].slice(start, end).join('')).toBe(url)
    }
  })
  fc.assert(property, { numRuns: 500 })
})
