import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'
import { readRows } from '../../src/api/imports/read-rows.ts'
import { ImportRowInput } from '../../src/api/imports/schema.ts'
import { toRequestId } from '../../src/api/plugins/request-log.ts'
import { createRequestAjv } from '../../src/api/plugins/validation.ts'
import { parseIdempotency } from '../../src/api/posts/idempotency.ts'
import * as postInput from '../../src/commands/posts/post-input.ts'
import * as captions from '../../src/domain/captions/captions.ts'
import * as csvRows from '../../src/domain/imports/csv-rows.ts'
import * as jsonRows from '../../src/domain/imports/json-rows.ts'
import * as spreadsheetTimes from '../../src/domain/imports/spreadsheet-times.ts'
import { failure } from '../../src/domain/posts/failure.ts'
import { NO_FILES } from '../../src/domain/posts/media-files.ts'
import * as fitText from '../../src/domain/shared/fit-text.ts'
import * as html from '../../src/domain/shared/html.ts'
import * as links from '../../src/domain/shared/links.ts'
import * as lists from '../../src/domain/shared/lists.ts'
import * as mailAddresses from '../../src/domain/users/mail-addresses.ts'
import * as names from '../../src/domain/shared/names.ts'
import * as nearestName from '../../src/domain/shared/nearest-name.ts'
import * as newPasswords from '../../src/domain/users/new-passwords.ts'
import * as passwords from '../../src/domain/users/passwords.ts'
import * as platformReasons from '../../src/domain/posts/platform-reason.ts'
import * as link from '../../src/domain/posts/link.ts'
import * as plainText from '../../src/domain/shared/plain-text.ts'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import * as mastodonLength from '../../src/domain/posts/mastodon-length.ts'
import * as postingRules from '../../src/domain/posts/posting-rules.ts'
import * as preflight from '../../src/domain/posts/preflight.ts'
import * as storageKeys from '../../src/domain/media/storage-keys.ts'
import { ServiceError } from '../../src/domain/shared/service-error.ts'
import * as text from '../../src/domain/shared/text.ts'
import * as timezones from '../../src/domain/shared/timezones.ts'
import { readDataUrl } from '../../src/integrations/large-texts/data-url.ts'
import * as facets from '../../src/platforms/bluesky/facets.ts'
import * as facebookLinks from '../../src/platforms/facebook/links.ts'
import * as mastodonHtml from '../../src/platforms/mastodon/html.ts'
import * as textDifference from '../../src/platforms/shared/text-difference.ts'
import { retryAfterMs } from '../../src/platforms/shared/retry-after.ts'
import * as tumblrContent from '../../src/platforms/tumblr/content.ts'
import { MAX_EXPONENT, worstExponent } from '../support/growth.ts'
import { toPreflightTarget } from '../support/preflight-target.ts'
import { HOSTILE_TEXTS, LONGEST_TEXT } from '../support/hostile-texts.ts'

type Run = (text: string) => unknown

const validateRow = createRequestAjv().compile(ImportRowInput)

interface ReaderOfText {
  run: Run
  /** The maximum length of a text, where another limit applies. */
  longest?: number
}

const { POSTING_RULES } = postingRules
const USER = 'a'.repeat(24)
const UNITS = [
  'graphemes',
  'utf8Bytes',
  'utf16Units',
  'codePoints',
  'codePointsEmojiAsBytes',
  'graphemesLinksAs23',
] as const
const PARTS = ['hashtags', 'mentions', 'links'] as const
const content = (value: string) => ({ text: value, mediaItems: [] })
const around = { userId: USER, publicUrl: (key: string) => key, now: new Date() }
const each = <T extends string>(values: readonly T[], run: (value: T, given: string) => unknown): Record<string, Run> =>
  Object.fromEntries(values.map((value) => [value, (given: string) => run(value, given)]))

/** Modules whose functions take text: every exported function is called here, or exempt because it takes none. */
const MODULES: {
  file: string
  module: object
  calls: Record<string, Run | Record<string, Run> | ReaderOfText>
  exempt?: string[]
}[] = [
  {
    file: 'src/domain/posts/posting-rules.ts',
    module: postingRules,
    calls: {
      countText: each(UNITS, (unit, given) => postingRules.countText(given, unit)),
      measureText: (given: string) => postingRules.measureText(given, { unit: 'graphemes', max: 300 }),
      countParts: each(PARTS, (part, given) => postingRules.countParts(given, part)),
      fitAltText: (given: string) =>
        postingRules.fitAltText(
          { storageKey: 'k', storageUrl: 'u', mimeType: 'image/png', altText: given },
          POSTING_RULES.tumblr,
        ),
    },
    exempt: [
      'describeTooLargeFile',
      'toMediaKind',
      'findPixelProblem',
      'prepareLeadMs',
      'createTextMeter',
      'toKindRules',
    ],
  },
  {
    file: 'src/domain/posts/mastodon-length.ts',
    module: mastodonLength,
    calls: { shortenForMastodon: (given: string) => mastodonLength.shortenForMastodon(given, 23) },
  },
  {
    file: 'src/domain/posts/preflight.ts',
    module: preflight,
    calls: {
      preflight: (given: string) =>
        preflight.preflight(
          { content: content(given), platformSpecificContent: {} },
          PLATFORMS.map((platform) => toPreflightTarget(platform, { isConnected: false })),
        ),
      checkContent: (given: string) => preflight.checkContent('tumblr', content(given), POSTING_RULES.tumblr),
      checkText: (given: string) => preflight.checkText('threads', content(given), POSTING_RULES.threads),
      toKnownContent: (given: string) =>
        preflight.toKnownContent(
          'mastodon',
          content(given),
          { options: { mastodon: { spoilerText: given } } },
          NO_FILES,
        ),
    },
    exempt: ['findSchedulingProblem', 'toPartRules'],
  },
  {
    file: 'src/domain/captions/captions.ts',
    module: captions,
    calls: {
      fitCaptions: each<Platform>(['bluesky', 'mastodon'], (platform, given) =>
        captions.fitCaptions([given], platform, POSTING_RULES[platform]),
      ),
      buildTemplateCaptions: {
        text: (given: string) =>
          captions.buildTemplateCaptions(
            { prompt: given, text: given, tone: given, platform: 'threads' },
            POSTING_RULES.threads,
          ),
        prompt: (given: string) =>
          captions.buildTemplateCaptions({ prompt: `Write ${given}`, text: null, tone: null, platform: null }, null),
      },
    },
  },
  {
    file: 'src/domain/shared/plain-text.ts',
    module: plainText,
    calls: {
      ...{ toOneLine: plainText.toOneLine, toTitleLine: plainText.toTitleLine },
      ...{ toPlainLine: plainText.toPlainLine, toExcerpt: plainText.toExcerpt },
    },
  },
  {
    file: 'src/domain/posts/link.ts',
    module: link,
    calls: {
      findCardLink: (given: string) => link.findCardLink('auto', given),
      isCardUrl: link.isCardUrl,
      needsPage: (given: string) => link.needsPage('bluesky', content(given)),
      toCardText: (given: string) => link.toCardText(given, 'description'),
    },
    exempt: ['toFurtherLink', 'PageUnavailableError'],
  },
  {
    file: 'src/domain/shared/fit-text.ts',
    module: fitText,
    calls: {
      cutToFit: (given: string) => fitText.cutToFit(given, (cut) => cut.length <= 500),
      takeCharacters: (given: string) => fitText.takeCharacters(given, LONGEST_TEXT),
    },
  },
  {
    file: 'src/domain/shared/text.ts',
    module: text,
    calls: {
      countCodePoints: text.countCodePoints,
      takeCodePoints: (given: string) => text.takeCodePoints(given, LONGEST_TEXT),
      trimEndWhere: (given: string) => text.trimEndWhere(given, (character) => character.trim() === ''),
      trimTrailingSlashes: text.trimTrailingSlashes,
      trimFullStop: text.trimFullStop,
      stripDirections: text.stripDirections,
      stripInvisible: text.stripInvisible,
    },
  },
  {
    file: 'src/domain/shared/links.ts',
    module: links,
    calls: { findLinks: links.findLinks, findAllLinks: links.findAllLinks, isWebUrl: links.isWebUrl },
  },
  { file: 'src/domain/shared/html.ts', module: html, calls: { escapeHtml: html.escapeHtml } },
  {
    file: 'src/domain/shared/names.ts',
    module: names,
    calls: {
      normalizeName: names.normalizeName,
      findNameProblems: names.findNameProblems,
      pickUsableName: (given: string) => names.pickUsableName([given], 'Ann'),
    },
  },
  {
    file: 'src/domain/users/passwords.ts',
    module: passwords,
    // The schemas of all routes with a password limit it.
    calls: { normalizePassword: { run: passwords.normalizePassword, longest: passwords.MAX_PASSWORD_LENGTH } },
  },
  {
    file: 'src/domain/users/new-passwords.ts',
    module: newPasswords,
    calls: {
      findPasswordProblem: newPasswords.findPasswordProblem,
      findPasswordProblems: (given: string) => newPasswords.findPasswordProblems(given),
    },
  },
  {
    file: 'src/domain/users/mail-addresses.ts',
    module: mailAddresses,
    calls: { isMailAddress: mailAddresses.isMailAddress },
  },
  {
    file: 'src/domain/posts/platform-reason.ts',
    module: platformReasons,
    calls: {
      toPlatformReason: (given: string) => platformReasons.toPlatformReason({ code: given, text: given }),
      // A sanitized text beside a post or a secret of any length.
      maskEchoes: (given: string) =>
        platformReasons.maskEchoes({ code: null, text: 'The text is too long. '.repeat(12) }, [given]),
    },
    exempt: ['quotePlatform'],
  },
  {
    file: 'src/domain/shared/timezones.ts',
    module: timezones,
    calls: {
      isTimezone: timezones.isTimezone,
      findTimezoneProblem: timezones.findTimezoneProblem,
      isInstant: each(['', '2026-01-01T00:00', '2026-01-01T00:00:00Z'], (start, given) =>
        timezones.isInstant(start + given),
      ),
      parseInstant: each(['', '2026-01-01T00:00', '2026-01-01T00:00Z', '2026-01-01T00:00Z['], (start, given) =>
        timezones.parseInstant(start + given, 'UTC'),
      ),
      parseRangeBound: each(['', '2026-01-01'], (start, given) =>
        timezones.parseRangeBound(start + given, 'UTC', 'end'),
      ),
    },
  },
  {
    file: 'src/domain/media/storage-keys.ts',
    module: storageKeys,
    calls: {
      parseMediaType: each(['', 'posts/a/b.'], (start, given) => storageKeys.parseMediaType(start + given)),
      isMediaType: storageKeys.isMediaType,
      isAvatarType: storageKeys.isAvatarType,
      parseAvatarType: each(['', `avatars/${USER}/`], (start, given) =>
        storageKeys.parseAvatarType(USER, start + given),
      ),
      parseOwnerId: storageKeys.parseOwnerId,
      isOwnMediaKey: each(['', `posts/${USER}/`], (start, given) => storageKeys.isOwnMediaKey(USER, start + given)),
      toMediaKey: (given: string) => storageKeys.toMediaKey(USER, given),
      mediaKeyPattern: each(['', `posts/${USER}/`], (start, given) =>
        storageKeys.mediaKeyPattern(USER).test(start + given),
      ),
    },
    exempt: ['avatarKey', 'mediaKey', 'copyKey', 'listUserFolders', 'removedKey', 'originalKey'],
  },
  {
    file: 'src/domain/imports/csv-rows.ts',
    module: csvRows,
    calls: {
      escapeCell: csvRows.escapeCell,
      unescapeCell: each(['', "'"], (start, given) => csvRows.unescapeCell(start + given)),
      findSeparator: csvRows.findSeparator,
      readHeader: (given: string) => csvRows.readHeader([given, 'text']),
      toRecord: (given: string) => csvRows.toRecord([given, given], csvRows.readHeader(['text'])),
      toCellProblem: (given: string) =>
        csvRows.toCellProblem({ path: `content.text.${given}`, code: 'x', message: given }),
      parseCsvRecord: each(csvRows.CSV_COLUMNS, (column, given) => csvRows.parseCsvRecord({ [column]: given }, 'dmy')),
    },
    exempt: ['toCsvRecord'],
  },
  {
    file: 'src/domain/imports/json-rows.ts',
    module: jsonRows,
    calls: { cutJsonRows: each(['', '[', '["'], (start, given) => cutAll(start + given)) },
  },
  {
    file: 'src/domain/imports/spreadsheet-times.ts',
    module: spreadsheetTimes,
    calls: {
      toIsoTime: each(['', '1.5.2090', '1.5.2090 9:30'], (start, given) =>
        spreadsheetTimes.toIsoTime(start + given, 'dmy'),
      ),
    },
  },
  {
    file: 'src/domain/shared/nearest-name.ts',
    module: nearestName,
    calls: { findNearestName: (given: string) => nearestName.findNearestName(given, csvRows.CSV_COLUMNS) },
  },
  {
    file: 'src/domain/shared/lists.ts',
    module: lists,
    calls: {
      parseList: lists.parseList,
      parseBoundedList: (given: string) => lists.parseBoundedList(given, /[;,]/, 50),
    },
    exempt: ['splitIntoChunks', 'bisect'],
  },
  {
    file: 'src/commands/posts/post-input.ts',
    module: postInput,
    calls: {
      readWholePost: (given: string) =>
        postInput.readWholePost(
          { content: { text: given }, selectedPlatforms: [], scheduledAt: given, timezone: given },
          around,
        ),
      readChange: (given: string) =>
        postInput.readChange(
          { content: { text: given, mediaItems: [{ storageKey: given, mimeType: given }] }, scheduledAt: given },
          'Europe/Berlin',
          around,
        ),
    },
    exempt: ['refuseProblem', 'refuseProblems', 'findSelectionProblems'],
  },
  {
    file: 'src/platforms/bluesky/facets.ts',
    module: facets,
    calls: { findFacets: (given: string) => void facets.findFacets(given, async () => null) },
  },
  {
    file: 'src/platforms/facebook/links.ts',
    module: facebookLinks,
    calls: { findPreviewLink: (given: string) => facebookLinks.findPreviewLink({ content: content(given) }) },
  },
  {
    file: 'src/platforms/shared/text-difference.ts',
    module: textDifference,
    calls: {
      normalizeWhitespace: textDifference.normalizeWhitespace,
      hasDifferentWords: (given: string) => textDifference.hasDifferentWords(given, `${given} more`),
    },
  },
  { file: 'src/platforms/mastodon/html.ts', module: mastodonHtml, calls: { toPlainText: mastodonHtml.toPlainText } },
  {
    file: 'src/platforms/tumblr/content.ts',
    module: tumblrContent,
    calls: {
      toTextBlocks: tumblrContent.toTextBlocks,
      parseTags: tumblrContent.parseTags,
      formatText: tumblrContent.formatText,
    },
    exempt: ['toMediaBlock', 'toPostBody', 'findUploadedMedia'],
  },
]

const FILES: Record<string, (given: string) => string> = {
  'a CSV file': (given) => given,
  'the rows of a CSV file': (given) => `text,media\n${given}`,
  'a quoted cell': (given) => `text,media\n"${given.replaceAll('"', '""')}",a`,
  'the texts of a JSON file': (given) => JSON.stringify([{ content: { text: given }, [given]: given }, given]),
}

/** The CSV parser takes long for each row that is shorter than the header, which it may be tens of thousands of times. */
const LONGEST_FILE = 10_000

/** Single functions of modules with other purposes. */
const OTHERS: Record<string, Run> = {
  toRequestId: (given) =>
    toRequestId({ headers: { 'x-request-id': given } } as unknown as Parameters<typeof toRequestId>[0]),
  parseIdempotency: (given) => parseIdempotency({ headers: { 'idempotency-key': given }, body: { given } }),
  readDataUrl: (given) => readDataUrl(`data:${given};base64,${given}`),
  failure: (given) => failure('INTERNAL', given),
  retryAfterMs: (given) => retryAfterMs({ header: () => given }),
}

const READERS: (ReaderOfText & { name: string })[] = [
  ...MODULES.flatMap(({ calls }) =>
    Object.entries(calls).flatMap(([name, call]) => {
      if (typeof call === 'function') return [{ name, run: call }]
      if (isBounded(call)) return [{ name, ...call }]
      return Object.entries(call).map(([variant, run]) => ({ name: `${name} (${variant || 'as it is'})`, run }))
    }),
  ),
  ...Object.entries(OTHERS).map(([name, run]) => ({ name, run })),
  ...Object.entries(FILES).map(([name, make]) => ({
    name: `readRows (${name})`,
    run: (given: string) => readAll(name, make(given)),
    longest: LONGEST_FILE,
  })),
]

/** Reads all rows of a file, up to its first error. */
async function readAll(name: string, text: string): Promise<void> {
  const format = name.includes('JSON') ? 'json' : 'csv'
  const options = { format, dateOrder: null, isStrict: false, signal: new AbortController().signal } as const
  const rows = readRows(Buffer.from(text), options, validateRow)
  await Array.fromAsync(rows).catch(ignoreServiceError)
}

function cutAll(text: string): void {
  try {
    Array.from(jsonRows.cutJsonRows(Buffer.from(text), text.length))
  } catch (error) {
    ignoreServiceError(error)
  }
}

function ignoreServiceError(error: unknown): void {
  if (!(error instanceof ServiceError)) throw error
}

function isBounded(call: Record<string, Run> | ReaderOfText): call is ReaderOfText {
  return 'longest' in call
}

/** Returns the first text of the corpus with more than linear time and the exponent of its time; null when there is none. */
async function tooSlowOn(run: Run, longest = LONGEST_TEXT): Promise<string | null> {
  for (const hostile of HOSTILE_TEXTS) {
    const exponent = await worstExponent(run, hostile, longest)
    if (exponent > MAX_EXPONENT)
      return `${hostile.name}: the time grows with the length to the power of ${exponent.toFixed(2)}`
  }
  return null
}

const TIMEOUT_MS = 120_000

describe('a function that takes text of users or platforms', () => {
  it.each(READERS)(
    'the function takes linear time on every hostile text: $name',
    { timeout: TIMEOUT_MS },
    async ({ run, longest }) => {
      expect(await tooSlowOn(run, longest)).toBeNull()
    },
  )

  it.each(MODULES)(
    'every exported text function of $file is tested for linear time',
    ({ module, calls, exempt = [] }) => {
      const exported = Object.entries(module).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
      expect([...Object.keys(calls), ...exempt].toSorted()).toEqual(exported.toSorted())
    },
  )
})

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => ({
  file,
  code: readFileSync(ROOT + file, 'utf8'),
}))

describe('a file that segments or normalizes text', () => {
  it('every function of a file that segments or normalizes text is tested, because both can take quadratic time', () => {
    const files = SOURCES.flatMap(({ file, code }) => (/Intl\.Segmenter|\.normalize\(/.test(code) ? [file] : []))
    expect(files.filter((file) => !MODULES.some((known) => known.file === file))).toEqual([])
  })
})

/** Every regular expression in the code of the service. */
const EXPRESSIONS = [
  ...new Map(
    SOURCES.flatMap(({ file, code }) => expressionsIn(code).map((found) => [`${found}`, { file, found }] as const)),
  ).values(),
]

function expressionsIn(code: string): RegExp[] {
  const found: RegExp[] = []
  // The option is typed only for Rolldown's own callers.
  JSON.stringify(parseAst(code, { lang: 'ts' }), (_key, value: unknown) => {
    const regex = (value as { regex?: { pattern: string; flags: string } } | null)?.regex
    if (regex) found.push(new RegExp(regex.pattern, regex.flags))
    return typeof value === 'bigint' ? `${value}` : value
  })
  return found
}

describe('a regular expression', () => {
  it.each(EXPRESSIONS)(
    'the expression takes linear time on every hostile text: $found in $file',
    { timeout: TIMEOUT_MS },
    async ({ found }) => {
      expect(await tooSlowOn((given) => given.replace(found, ''))).toBeNull()
    },
  )
})

describe('the measure of time', () => {
  const text = { name: 'a', make: (length: number) => 'a'.repeat(length) }

  it('the measure detects quadratic time', async () => {
    expect(await worstExponent((given) => /a+b/.test(given), text, LONGEST_TEXT)).toBeGreaterThan(MAX_EXPONENT)
  })

  it('the measure accepts linear time that outgrows the caches of the processor', async () => {
    const collect = (given: string) => new Set(Array.from(given, (character, at) => character + at * 7919))
    expect(await worstExponent(collect, text, LONGEST_TEXT)).toBeLessThanOrEqual(MAX_EXPONENT)
  })
})
