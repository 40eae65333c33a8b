import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { holdOption } from '../content.ts'
import {
  ACCOUNT,
  GROUP,
  limitOption,
  listValues,
  repeatedOption,
  take,
  withoutUndefined,
  wordsOption,
} from '../options.ts'
import { formatFields, formatTable, shorten } from '../output.ts'
import { formatTime, parsePublicationTime } from '../times.ts'
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
const SOURCES = listValues<Schemas['PostSource']>({ web: true, api: true })
const CLIENTS = listValues<Schemas['PostClient']>({
  console: true,
  cli: true,
  mcp: true,
  sdk: true,
  import: true,
  api: true,
})
const TEXT_WIDTH = 50
const LARGEST_PAGE = 200

export interface FilterOptions {
  status?: Schemas['PostStatus'][]
  platform?: Schemas['Platform']
  account?: string[]
  group?: string[]
  source?: Schemas['PostSource']
  client?: Schemas['PostClient'][]
  from?: string
  to?: string
  search?: string
}

interface ListOptions extends FilterOptions {
  limit: number
}

interface CountOptions extends FilterOptions {
  from: string
  to: string
}

interface PublishOptions {
  at?: string
  hold?: number
}

interface AccountOptions {
  account?: string[]
}

const FROM = new Option('--from <time>', 'earliest date or time of the post')
const TO = new Option('--to <time>', 'latest date or time of the post')

/** The options that select posts. */
export const FILTER_OPTIONS = [
  wordsOption('--status <statuses>', 'only posts in these statuses', STATUSES),
  new Option('--platform <name>', 'only posts for this platform').choices(PLATFORMS),
  repeatedOption('--account <account>', `only posts for this account; ${ACCOUNT}`),
  repeatedOption('--group <group>', `only posts for the accounts of this group; ${GROUP}`),
  new Option('--source <source>', 'only posts from a page, or from a program').choices(SOURCES),
  wordsOption('--client <clients>', 'only posts that one of these wrote', CLIENTS),
  FROM,
  TO,
  new Option('--search <text>', 'only posts with this text'),
]

export const postCommands: CommandSpec[] = [
  {
    usage: 'list',
    summary: 'List posts, newest first',
    options: [...FILTER_OPTIONS, limitOption('posts')],
    async run({ client, call, print, options }: Run<ListOptions>) {
      const { limit } = options
      const query = { ...toFilters(options), limit: Math.min(limit, LARGEST_PAGE) }
      print(await take(client.posts.iterate(query, call), limit), formatPosts)
    },
  },
  {
    usage: 'count',
    summary: 'Count the posts of each day',
    options: [
      ...FILTER_OPTIONS.filter((option) => option !== FROM && option !== TO),
      new Option(FROM.flags, 'first day').makeOptionMandatory(),
      new Option(TO.flags, 'last day').makeOptionMandatory(),
    ],
    async run({ client, call, print, options }: Run<CountOptions>) {
      const { from, to } = options
      const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
      print(await client.posts.counts({ ...toFilters(options), from, to, timezone }, call), formatCounts)
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
    options: [new Option('--at <time>', 'when to publish, as for "postonce schedule"'), holdOption()],
    async run(run: Run<PublishOptions>, postId) {
      const { at, hold } = run.options
      const time = withoutUndefined({
        scheduledAt: at === undefined ? undefined : parsePublicationTime(at, Date.now()),
        holdSeconds: hold,
      })
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
    usage: 'take-back <post>',
    summary: 'Remove a published post from its platforms',
    description:
      'Requests that the platforms remove a published post, with all posts of a thread and the first comment. "postonce show" ' +
      'follows it, and says what to delete by hand. The post here stays.',
    options: [repeatedOption('--account <account>', `only from this account; ${ACCOUNT}`)],
    run: async ({ client, call, print, options }: Run<AccountOptions>, postId) =>
      print(await client.posts.takeBack(postId, toAccounts(options), call), formatChanged),
  },
  {
    usage: 'edit-published <post> <text>',
    summary: 'Edit the text of a published post on its platforms',
    description:
      'Requests that the platforms replace the text of a published post, of a thread that of its first post. Nothing is edited if one of ' +
      'the accounts cannot be edited. "postonce show" follows it.',
    options: [repeatedOption('--account <account>', `only on this account; ${ACCOUNT}`)],
    run: async ({ client, call, print, options }: Run<AccountOptions>, postId, text) =>
      print(
        await client.posts.editPublished(postId, { content: { text }, ...toAccounts(options) }, call),
        formatChanged,
      ),
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
    description: 'Sends a post again to the platforms that failed: the rest of a thread, and a failed first comment.',
    options: [repeatedOption('--account <account>', `only to this account; ${ACCOUNT}`)],
    run: async ({ client, call, print, options }: Run<AccountOptions>, postId) =>
      print(await client.posts.retry(postId, toAccounts(options), call), ({ retryingPlatforms }) =>
        formatFields({ post: postId, retrying: retryingPlatforms.join(', ') }),
      ),
  },
]

export function toFilters({ account, search, ...filters }: FilterOptions) {
  const { status, platform, group, source, client, from, to } = filters
  return withoutUndefined({ accounts: account, group, q: search, status, platform, source, client, from, to })
}

const toAccounts = ({ account }: AccountOptions) => (account === undefined ? {} : { accounts: account })

function formatChanged({ postId, status, platformStatuses }: Schemas['ChangedPublication']): string {
  return [formatFields({ post: postId, status }), '', formatDeliveries(platformStatuses)].join('\n')
}

function formatPost(post: Schemas['Post']): string {
  const { _id, status, scheduledAt, dueAt, createdAt, content, groups, platformStatuses } = post
  const due = isLate(post) ? { due: formatTime(dueAt) } : {}
  const times = { scheduled: formatTime(scheduledAt), ...due, created: formatTime(createdAt) }
  const named = groups ? { groups: groups.map(({ name }) => name).join(', ') } : {}
  const { segments = [], firstComment, options } = content
  const thread = Object.fromEntries(segments.map(({ text }, index) => [`post ${index + 2}`, text]))
  const comment = firstComment === undefined ? {} : { comment: firstComment }
  const only = options === undefined ? {} : { options: JSON.stringify(options) }
  const parts = { text: content.text, ...thread, ...comment, ...only }
  const fields = formatFields({ post: _id, status, ...times, ...named, ...parts })
  return [fields, '', formatDeliveries(platformStatuses)].join('\n')
}

/** Returns whether a post is due later than its time: in a burst of posts, after a hold, or after a retry. */
function isLate({ scheduledAt, dueAt, createdAt }: Schemas['Post']): boolean {
  return dueAt !== null && dueAt > (scheduledAt ?? createdAt)
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

/** Days without posts are left out. */
function formatCounts({ days }: Schemas['PostCounts']): string {
  const counted = days.filter(({ total }) => total > 0)
  if (counted.length === 0) return 'No posts.'
  return formatTable(counted, [
    { title: 'DAY', value: ({ date }) => date },
    { title: 'POSTS', value: ({ total }) => String(total) },
    {
      title: 'STATUSES',
      value: ({ statuses }) =>
        Object.entries(statuses)
          .map(([status, count]) => `${status} ${count}`)
          .join(', '),
    },
  ])
}

/** Prints the warnings of a created or changed post, then the post. */
export function printCreated({ io, print }: Run, created: Schemas['CreatedPost']): void {
  for (const { message } of created.warnings) io.note(`Warning: ${message}`)
  print(created, ({ postId, status, scheduledAt, dueAt }) => {
    const time =
      scheduledAt === null ? isWaiting(dueAt) && { due: formatTime(dueAt) } : { scheduled: formatTime(scheduledAt) }
    return formatFields({ post: postId, status, ...time })
  })
}

const isWaiting = (dueAt: string | null): boolean => dueAt !== null && Date.parse(dueAt) > Date.now()

/** Formats the delivery of a post to each account, with a line for each of several parts. */
export function formatDeliveries(deliveries: Schemas['PlatformStatus'][]): string {
  const rows = deliveries.flatMap(({ parts = [], ...delivery }) => [
    { ...delivery, name: delivery.platform },
    ...parts.map((part, index) => ({
      ...part,
      name: `  ${part.kind === 'post' ? `post ${index + 1}` : part.kind}`,
      accountName: null,
      removal: undefined,
      revisions: undefined,
    })),
  ])
  return formatTable(rows, [
    { title: 'PLATFORM', value: ({ name }) => name },
    { title: 'ACCOUNT', value: ({ accountName }) => accountName },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'DETAILS',
      value: ({ platformPostUrl, warning, errorCode, error, removal, revisions = [] }) => {
        const cause = errorCode ? `${errorCode}: ${error}` : error
        const edit = revisions.at(-1)
        const changes = [removal && formatChange(removal, REMOVAL_WORDS), edit && formatChange(edit, EDIT_WORDS)]
        return [platformPostUrl ?? cause, platformPostUrl && warning, ...changes].filter(Boolean).join(' ')
      },
    },
  ])
}

type Change = Schemas['Removal']

const REMOVAL_WORDS = { pending: 'Removal requested', completed: 'Removed', failed: 'Not removed' }
const EDIT_WORDS = { pending: 'Edit requested', completed: 'Edited', failed: 'Not edited' }

function formatChange({ status, error }: Pick<Change, 'status' | 'error'>, words: Record<Change['status'], string>) {
  return status === 'failed' ? `${words.failed}: ${error}` : words[status]
}
