import { basename, extname } from 'node:path'
import type { Client, MediaItem, PostProgress } from '@postonce/sdk'
import type { Command } from 'commander'
import { CliError, EXIT } from '../exit-codes.ts'
import { openFile } from '../files.ts'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { repeatedOption, wordsOption } from '../options.ts'
import { formatFields } from '../output.ts'
import { parseFutureTime } from '../times.ts'
import { PLATFORMS, type Platform } from './platforms.ts'
import { formatDeliveries, printCreated } from './posts.ts'

const TYPES: Record<string, string> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.mov': 'video/quicktime',
}

interface PublishOptions extends GlobalOptions {
  to?: Platform[]
  account?: string[]
  media?: string[]
  alt?: string[]
  at?: string
  draft?: boolean
  wait?: boolean
  idempotencyKey?: string
}

export function addPublishCommands(program: Command, io: Io): void {
  addContentOptions(program.command('post'))
    .summary('Publish a post now')
    .description('Publishes a post now, or saves it as a draft. Without a text, or with "-", it reads standard input.')
    .option('--draft', 'save the post without publishing it')
    .option('--wait', 'wait until the post is published; exit code 6 if it is not on every account')
    .action((text: string | undefined, _options: unknown, command: Command) =>
      publish(io, text, command.optsWithGlobals()),
    )

  addContentOptions(program.command('schedule'))
    .summary('Schedule a post')
    .description(
      'Schedules a post. A time is 2027-05-01T09:30 in the time zone of this machine, 2027-05-01T09:30:00Z, or +30m, +2h, +1d.',
    )
    .requiredOption('--at <time>', 'when to publish')
    .option('--wait', 'wait until the post is published; exit code 6 if it is not on every account')
    .action((text: string | undefined, _options: unknown, command: Command) =>
      publish(io, text, command.optsWithGlobals()),
    )
}

function addContentOptions(command: Command): Command {
  return command
    .argument('[text]', 'text of the post')
    .addOption(wordsOption('--to <platforms>', 'platforms, on the default account of each', PLATFORMS))
    .addOption(repeatedOption('--account <id>', 'an account of "postonce accounts"'))
    .addOption(repeatedOption('--media <file>', 'a picture or video to upload'))
    .addOption(repeatedOption('--alt <text>', 'description of the media, in the same order'))
    .option('--idempotency-key <key>', 'repeat a command with the same key to create the post once')
}

async function publish(io: Io, argument: string | undefined, options: PublishOptions): Promise<void> {
  const { to: selectedPlatforms = [], account: selectedAccounts = [] } = options
  if (selectedPlatforms.length === 0 && selectedAccounts.length === 0) {
    throw new CliError('Name where to publish: --to <platforms> or --account <id>', EXIT.usage)
  }
  const scheduledAt = options.at === undefined ? null : parseFutureTime(options.at, Date.now())
  const text = argument === undefined || argument === '-' ? (await io.readInput()).trimEnd() : argument
  const client = openClient(io, options)
  const mediaItems = await uploadAll(io, client, options)
  const created = await client.posts.create(
    {
      content: { text, mediaItems },
      selectedPlatforms,
      ...(selectedAccounts.length > 0 ? { selectedAccounts } : {}),
      ...(scheduledAt === null ? {} : { scheduledAt: scheduledAt.toISOString() }),
      ...(options.draft ? { status: 'DRAFT' } : {}),
    },
    { signal: io.signal, idempotencyKey: options.idempotencyKey },
  )
  if (!options.wait || options.draft) return printCreated(io, options, created)
  for (const { message } of created.warnings) io.note(`Warning: ${message}`)
  printOutcome(io, options, await waitFor(io, client, created.postId))
}

async function uploadAll(io: Io, client: Client, { media = [], alt = [] }: PublishOptions): Promise<MediaItem[]> {
  if (alt.length > media.length) throw new CliError('There are more --alt texts than --media files.', EXIT.usage)
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

function waitFor(io: Io, client: Client, postId: string): Promise<PostProgress> {
  return client.posts.waitUntilPublished(postId, {
    signal: io.signal,
    onProgress: ({ status, progress }) =>
      io.progress(`${postId} is ${status}: ${progress.completed} of ${progress.total} published`),
  })
}

function printOutcome(io: Io, options: GlobalOptions, outcome: PostProgress): void {
  if (outcome.status !== 'COMPLETED') io.setExitCode(EXIT.incomplete)
  printResult(io, options, outcome, ({ postId, status, platformStatuses }) =>
    [formatFields({ post: postId, status }), '', formatDeliveries(platformStatuses)].join('\n'),
  )
}
