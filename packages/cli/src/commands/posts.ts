import type { Client, components } from '@postonce/sdk'
import { Option, type Command } from 'commander'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { listValues, parseCount, repeatedOption, wordsOption } from '../options.ts'
import { formatFields, formatTable, shorten } from '../output.ts'
import { formatTime } from '../times.ts'
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
            created: formatTime(shown.createdAt),
            text: shown.content.text,
          }),
          '',
          formatDeliveries(shown.platformStatuses),
        ].join('\n'),
      )
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

/** Formats the delivery of a post to each account. */
export function formatDeliveries(deliveries: Schemas['PlatformStatus'][]): string {
  return formatTable(deliveries, [
    { title: 'PLATFORM', value: ({ platform }) => platform },
    { title: 'ACCOUNT', value: ({ accountName }) => accountName },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'DETAILS',
      value: ({ platformPostUrl, errorCode, error }) =>
        platformPostUrl ?? (errorCode ? `${errorCode}: ${error}` : error),
    },
  ])
}
