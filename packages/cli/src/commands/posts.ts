import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { ACCOUNT, limitOption, listValues, repeatedOption, take, withoutUndefined, wordsOption } from '../options.ts'
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
const LARGEST_PAGE = 200

export interface FilterOptions {
  status?: Schemas['PostStatus'][]
  platform?: Schemas['Platform']
  account?: string
  from?: string
  to?: string
}

interface ListOptions extends FilterOptions {
  search?: string
  limit: number
}

interface PublishOptions {
  at?: string
}

interface AccountOptions {
  account?: string[]
}

/** The options that select posts. */
export const FILTER_OPTIONS = [
  wordsOption('--status <statuses>', 'only posts in these statuses', STATUSES),
  new Option('--platform <name>', 'only posts for this platform').choices(PLATFORMS),
  new Option('--account <account>', `only posts for this account; ${ACCOUNT}`),
  new Option('--from <time>', 'earliest date or time of the post'),
  new Option('--to <time>', 'latest date or time of the post'),
]

export const postCommands: CommandSpec[] = [
  {
    usage: 'list',
    summary: 'List posts, newest first',
    options: [...FILTER_OPTIONS, new Option('--search <text>', 'only posts with this text'), limitOption('posts')],
    async run({ client, call, print, options }: Run<ListOptions>) {
      const { search, limit } = options
      const query = { ...toFilters(options), ...withoutUndefined({ q: search }), limit: Math.min(limit, LARGEST_PAGE) }
      print(await take(client.posts.iterate(query, call), limit), formatPosts)
    },
  },
  {
    usage: 'show <post>',
    summary: 'Show a post and its delivery to each account',
    run: async ({ client, call, print }, postId) => print(await client.posts.get(postId, call), formatPost),
  },
  {
    usage: 'publish <post>',
    summary: 'Publish a draft',
    description: 'Publishes a draft: at the time of --at, else at its own time, else now.',
    options: [new Option('--at <time>', 'when to publish, as for "postonce schedule"')],
    async run(run: Run<PublishOptions>, postId) {
      const { at } = run.options
      const time = at === undefined ? {} : { scheduledAt: parseFutureTime(at, Date.now()) }
      printCreated(run, await run.client.posts.update(postId, { status: 'PENDING', ...time }, run.call))
    },
  },
  {
    usage: 'duplicate <post>',
    summary: 'Make a draft with the content and the accounts of a post',
    run: async (run, postId) => printCreated(run, await run.client.posts.duplicate(postId, run.call)),
  },
  {
    usage: 'delete <post>',
    summary: 'Delete a post here; what is already public stays',
    run: async ({ client, call, print }, postId) =>
      print(await client.posts.delete(postId, call), () => formatFields({ post: postId, status: 'deleted' })),
  },
  {
    usage: 'cancel <post>',
    summary: 'Cancel a post that was not sent yet',
    options: [repeatedOption('--account <account>', `end only the waiting delivery to this account; ${ACCOUNT}`)],
    run: async ({ client, call, print, options }: Run<AccountOptions>, postId) =>
      print(await client.posts.cancel(postId, toAccounts(options), call), ({ status }) =>
        formatFields({ post: postId, status }),
      ),
  },
  {
    usage: 'retry <post>',
    summary: 'Send a post again to the platforms that failed',
    options: [repeatedOption('--account <account>', `only to this account; ${ACCOUNT}`)],
    run: async ({ client, call, print, options }: Run<AccountOptions>, postId) =>
      print(await client.posts.retry(postId, toAccounts(options), call), ({ retryingPlatforms }) =>
        formatFields({ post: postId, retrying: retryingPlatforms.join(', ') }),
      ),
  },
]

export function toFilters({ status, platform, account, from, to }: FilterOptions) {
  return withoutUndefined({ status, platform, account, from, to })
}

const toAccounts = ({ account }: AccountOptions) => (account === undefined ? {} : { accounts: account })

function formatPost(post: Schemas['Post']): string {
  const { _id, status, scheduledAt, dueAt, createdAt, content, groups, platformStatuses } = post
  const due = isLate(post) ? { due: formatTime(dueAt) } : {}
  const times = { scheduled: formatTime(scheduledAt), ...due, created: formatTime(createdAt) }
  const named = groups ? { groups: groups.map(({ name }) => name).join(', ') } : {}
  const fields = formatFields({ post: _id, status, ...times, ...named, text: content.text })
  return [fields, '', formatDeliveries(platformStatuses)].join('\n')
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
export function printCreated({ io, print }: Run, created: Schemas['CreatedPost']): void {
  for (const { message } of created.warnings) io.note(`Warning: ${message}`)
  print(created, ({ postId, status, scheduledAt }) =>
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
