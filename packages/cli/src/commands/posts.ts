import type { Client, components } from '@postonce/sdk'
import { Option, type Command } from 'commander'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { listValues, parseCount, repeatedOption, wordsOption } from '../options.ts'
import { formatFields, formatTable, shorten } from '../output.ts'
import { formatTime, parseFutureTime } from '../times.ts'
import { PLATFORMS } from './platforms.ts'

type Schemas = components['schemas']

const STATUSES = listValues<Schemas['PostStatus']>({
  DRAFT: true,
  PENDING: true,
  SCHEDULED: true,
  PROCESSING: true,
  COMPLETED: true,
  PARTIAL_SUCCESS: true,
  FAILED: true,
  CANCELLED: true,
})
const TEXT_WIDTH = 50
const DEFAULT_LIMIT = 20
const LARGEST_PAGE = 200

interface ListOptions extends GlobalOptions {
  status?: Schemas['PostStatus'][]
  platform?: Schemas['Platform']
  account?: string
  from?: string
  to?: string
  search?: string
  limit: number
}

interface PublishOptions extends GlobalOptions {
  at?: string
}

interface AccountOptions extends GlobalOptions {
  account?: string[]
}

export function addPostCommands(program: Command, io: Io): void {
  program
    .command('list')
    .description('List posts, newest first')
    .addOption(wordsOption('--status <statuses>', 'only posts in these statuses', STATUSES))
    .addOption(new Option('--platform <name>', 'only posts for this platform').choices(PLATFORMS))
    .option('--account <id>', 'only posts for this account')
    .option('--from <time>', 'earliest date or time of the post')
    .option('--to <time>', 'latest date or time of the post')
    .option('--search <text>', 'only posts with this text')
    .addOption(new Option('--limit <number>', 'most posts to print').default(DEFAULT_LIMIT).argParser(parseCount))
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      printResult(io, options, await listPosts(io, openClient(io, options), options), formatPosts)
    })

  program
    .command('show')
    .description('Show a post and its delivery to each account')
    .argument('<post>', 'id of the post')
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const post = await openClient(io, options).posts.get(postId, { signal: io.signal })
      printResult(io, options, post, (shown) =>
        [
          formatFields({
            post: shown._id,
            status: shown.status,
            scheduled: formatTime(shown.scheduledAt),
            ...(isLate(shown) ? { due: formatTime(shown.dueAt) } : {}),
            created: formatTime(shown.createdAt),
            text: shown.content.text,
          }),
          '',
          formatDeliveries(shown.platformStatuses),
        ].join('\n'),
      )
    })

  program
    .command('publish')
    .summary('Publish a draft')
    .description('Publishes a draft: at the time of --at, else at its own time, else now.')
    .argument('<post>', 'id of the draft')
    .option('--at <time>', 'when to publish, as for "postonce schedule"')
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<PublishOptions>()
      const at = options.at === undefined ? {} : { scheduledAt: parseFutureTime(options.at, Date.now()).toISOString() }
      const client = openClient(io, options)
      const updated = await client.posts.update(postId, { status: 'PENDING', ...at }, { signal: io.signal })
      printCreated(io, options, updated)
    })

  program
    .command('duplicate')
    .description('Make a draft with the content and the accounts of a post')
    .argument('<post>', 'id of the post')
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      printCreated(io, options, await openClient(io, options).posts.duplicate(postId, { signal: io.signal }))
    })

  program
    .command('delete')
    .description('Delete a post here; what is already public stays')
    .argument('<post>', 'id of the post')
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const result = await openClient(io, options).posts.delete(postId, { signal: io.signal })
      printResult(io, options, result, () => formatFields({ post: postId, status: 'deleted' }))
    })

  program
    .command('cancel')
    .description('Cancel a post that was not sent yet')
    .argument('<post>', 'id of the post')
    .addOption(repeatedOption('--account <id>', 'end only the waiting delivery to this account'))
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<AccountOptions>()
      const body = options.account === undefined ? {} : { accounts: options.account }
      const result = await openClient(io, options).posts.cancel(postId, body, { signal: io.signal })
      printResult(io, options, result, ({ status }) => formatFields({ post: postId, status }))
    })

  program
    .command('retry')
    .description('Send a post again to the platforms that failed')
    .argument('<post>', 'id of the post')
    .addOption(repeatedOption('--account <id>', 'only this account'))
    .action(async (postId: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<AccountOptions>()
      const body = options.account === undefined ? {} : { accounts: options.account }
      const result = await openClient(io, options).posts.retry(postId, body, { signal: io.signal })
      printResult(io, options, result, ({ retryingPlatforms }) =>
        formatFields({ post: postId, retrying: retryingPlatforms.join(', ') }),
      )
    })
}

async function listPosts(io: Io, client: Client, options: ListOptions): Promise<Schemas['ListedPost'][]> {
  const { status, platform, account, from, to, search, limit } = options
  const filters = {
    ...(status ? { status } : {}),
    ...(platform ? { platform } : {}),
    ...(account ? { account } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(search ? { q: search } : {}),
    limit: Math.min(limit, LARGEST_PAGE),
  }
  const posts: Schemas['ListedPost'][] = []
  if (limit === 0) return posts
  for await (const post of client.posts.iterate(filters, { signal: io.signal })) {
    posts.push(post)
    if (posts.length >= limit) break
  }
  return posts
}

/** Returns whether a post is due later than its time: in a burst of posts, or after a retry. */
function isLate({ scheduledAt, dueAt }: Schemas['Post']): boolean {
  return scheduledAt !== null && dueAt !== null && dueAt > scheduledAt
}

function formatPosts(posts: Schemas['ListedPost'][]): string {
  if (posts.length === 0) return 'No posts.'
  return formatTable(posts, [
    { title: 'POST', value: ({ _id }) => _id },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'TIME', value: ({ scheduledAt, createdAt }) => formatTime(scheduledAt ?? createdAt) },
    { title: 'PLATFORMS', value: ({ selectedPlatforms }) => selectedPlatforms.join(',') },
    { title: 'TEXT', value: ({ content }) => shorten(content.text, TEXT_WIDTH) },
  ])
}

/** Prints the warnings of a created or changed post, then the post. */
export function printCreated(io: Io, options: GlobalOptions, created: Schemas['CreatedPost']): void {
  for (const { message } of created.warnings) io.note(`Warning: ${message}`)
  printResult(io, options, created, ({ postId, status, scheduledAt }) =>
    formatFields({ post: postId, status, ...(scheduledAt === null ? {} : { scheduled: formatTime(scheduledAt) }) }),
  )
}

/** Formats the delivery of a post to each account. */
export function formatDeliveries(deliveries: Schemas['PlatformStatus'][]): string {
  return formatTable(deliveries, [
    { title: 'PLATFORM', value: ({ platform }) => platform },
    { title: 'ACCOUNT', value: ({ accountName }) => accountName },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'DETAILS',
      value: ({ platformPostUrl, warning, errorCode, error }) => {
        if (platformPostUrl === null) return errorCode ? `${errorCode}: ${error}` : error
        return warning === undefined ? platformPostUrl : `${platformPostUrl} ${warning}`
      },
    },
  ])
}
