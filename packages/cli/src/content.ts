import { basename, extname } from 'node:path'
import type { components, MediaItem } from '@postonce/sdk'
import { Option } from 'commander'
import type { Run } from './command.ts'
import { PLATFORMS, type Platform } from './commands/platforms.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { openFile } from './files.ts'
import { ACCOUNT, GROUP, listValues, parseCount, repeatedOption, withoutUndefined, wordsOption } from './options.ts'
import { parsePublicationTime } from './times.ts'

type Schemas = components['schemas']
type Override = Schemas['OverrideInput']
type Policy = NonNullable<Override['onUnsupported']>

const POLICIES = listValues<Policy>({ refuse: true, join: true, skipPlatform: true })

const TYPES: Record<string, string> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.mov': 'video/quicktime',
}

export interface ContentOptions {
  to?: Platform[]
  account?: string[]
  group?: string[]
  textFor?: string[]
  media?: string[]
  alt?: string[]
  segment?: string[]
  firstComment?: string
  onUnsupported?: Policy
  options?: string
  at?: string
  hold?: number
  ifLate?: string
}

/** The options for the parts of a post besides its text and time. */
export const CONTENT_OPTIONS = [
  wordsOption('--to <platforms>', 'platforms, on the default account of each', PLATFORMS),
  repeatedOption('--account <account>', ACCOUNT),
  repeatedOption('--group <group>', `${GROUP}, for all of its accounts`),
  repeatedOption('--text-for <name=text>', 'another text for a platform or account, such as "mastodon=Good morning"'),
  repeatedOption('--media <file>', 'a picture or video to upload'),
  repeatedOption('--alt <text>', 'description of the media, in the same order'),
  repeatedOption('--segment <text>', 'a further post of a thread'),
  new Option('--first-comment <text>', 'your comment below the published post'),
  new Option('--on-unsupported <policy>', 'on platforms without threads or first comments').choices(POLICIES),
  new Option(
    '--options <json>',
    'what a platform has only, such as {"mastodon":{"visibility":"unlisted"}}; "@file" reads a file',
  ),
  new Option(
    '--if-late <choice>',
    '"skip 60" skips the post when it is 60 minutes late, "ask 60" lets you decide then',
  ),
]

const IF_LATE = /^(skip|ask) (\d{1,4})$/

export const atOption = () =>
  new Option('--at <time>', 'when to publish: 2027-05-01T09:30, 2027-05-01T09:30:00Z, +2h or next-slot')

export const holdOption = () =>
  new Option('--hold <seconds>', 'how long a post that is published now waits; "postonce cancel" stops it').argParser(
    parseCount,
  )

/**
 * Reads the parts of a post that arguments and options give.
 * @param stored the post that they change; its texts and media for platforms and accounts remain
 * @throws CliError for options that contradict each other, a past time, and a file that cannot be read
 */
export async function readParts(
  run: Run<ContentOptions>,
  argument: string | undefined,
  stored?: Schemas['Post'],
): Promise<Schemas['UpdatePost']> {
  const { to, account, group, at, hold, ifLate, media = [], alt = [], textFor } = run.options
  if (alt.length > media.length) throw new CliError('There are more --alt texts than --media files.', EXIT.usage)
  const time = at === undefined ? {} : { scheduledAt: parsePublicationTime(at, Date.now()) }
  const texts = textFor ? await readTexts(run, textFor, stored) : {}
  const text = argument === '-' ? (await run.io.readInput()).trimEnd() : argument
  const content = {
    ...(text === undefined ? {} : { text }),
    ...(media.length === 0 ? {} : { mediaItems: await uploadAll(run) }),
    ...toThread(run.options),
    ...(run.options.options === undefined ? {} : { options: await readOptions(run.options.options) }),
  }
  return {
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...(to || account || group
      ? { selectedPlatforms: to ?? [], selectedAccounts: account ?? [], selectedGroups: group ?? [] }
      : {}),
    ...texts,
    ...time,
    ...(hold === undefined ? {} : { holdSeconds: hold }),
    ...(ifLate === undefined ? {} : { ifLate: parseIfLate(ifLate) }),
  }
}

/** Empty texts remove what a post has: the thread or the comment. */
/** The API checks the number. @throws CliError */
function parseIfLate(choice: string): Schemas['IfLate'] {
  const [, action, minutes] = IF_LATE.exec(choice.trim()) ?? []
  if (action && minutes) return { action: action as Schemas['IfLate']['action'], afterMinutes: Number(minutes) }
  throw new CliError(`--if-late does not accept "${choice}". Use "skip 60" or "ask 60".`, EXIT.usage)
}

function toThread({ segment, firstComment, onUnsupported }: ContentOptions) {
  const segments = segment?.filter((text) => text !== '').map((text) => ({ text }))
  return withoutUndefined({ segments, firstComment, onUnsupported })
}

/** Returns the options of platforms from JSON, or from the file behind an `@`. The API checks their names and values. */
async function readOptions(given: string): Promise<NonNullable<Override['options']>> {
  const json = given.startsWith('@') ? await (await openFile(given.slice(1))).text() : given
  try {
    const options: unknown = JSON.parse(json)
    if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  } catch {
    // The error below names the option.
  }
  throw new CliError('--options is not a JSON object such as {"mastodon":{"visibility":"unlisted"}}.', EXIT.usage)
}

/** Returns the texts for platforms and accounts. */
async function readTexts({ findAccount }: Run, entries: string[], stored: Schemas['Post'] | undefined) {
  const platformSpecificContent: Partial<Record<Platform, Override>> = { ...stored?.platformSpecificContent }
  const accountSpecificContent: Record<string, Override> = { ...stored?.accountSpecificContent }
  for (const entry of entries) {
    const [, name = '', text] = /^([^=]+)=(.*)$/s.exec(entry) ?? []
    if (text === undefined) throw new CliError(`--text-for "${entry}" is not in the form <name>=<text>.`, EXIT.usage)
    const platform = PLATFORMS.find((known) => known === name.toLowerCase())
    if (platform) platformSpecificContent[platform] = { ...platformSpecificContent[platform], text }
    else {
      const id = await findAccount(name)
      accountSpecificContent[id] = { ...accountSpecificContent[id], text }
    }
  }
  return { platformSpecificContent, accountSpecificContent }
}

async function uploadAll({ io, client, options }: Run<ContentOptions>): Promise<MediaItem[]> {
  const { media = [], alt = [] } = options
  // All files are opened before the first is uploaded.
  const files = await Promise.all(
    media.map(async (path, index) => ({ path, altText: alt[index], blob: await openFile(path, toContentType(path)) })),
  )
  const items: MediaItem[] = []
  for (const { path, altText, blob } of files) {
    const name = basename(path)
    items.push(
      await client.media.upload(blob, {
        filename: name,
        altText,
        signal: io.signal,
        onProgress: ({ sentBytes, totalBytes }) =>
          io.progress(`Uploading ${name}: ${Math.round((sentBytes / totalBytes) * 100)} %`),
      }),
    )
  }
  return items
}

function toContentType(path: string): string {
  const type = TYPES[extname(path).toLowerCase()]
  if (type === undefined) {
    throw new CliError(`${path} has an unknown type. Files end with ${Object.keys(TYPES).join(', ')}.`, EXIT.usage)
  }
  return type
}
