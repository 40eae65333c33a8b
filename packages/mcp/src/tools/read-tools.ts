import * as z from 'zod/v4'
import { readAccounts, readPost, readPosts } from '../reads.ts'
import { presentDelivery } from '../present.ts'
import { accountId, analyticsFilters, client, groupFilter, platform, postId, status } from '../schemas.ts'
import { defineTool } from './tool.ts'

const DEFAULT_LIST_LIMIT = 10
const MAX_LIST_LIMIT = 50
/** Clients usually end a call after 60 seconds. */
const MAX_WAIT_SECONDS = 50
const DEFAULT_WAIT_SECONDS = 30

const read = { effect: 'read', isIdempotent: true } as const

export const listAccounts = defineTool({
  ...read,
  name: 'list_accounts',
  title: 'List connected accounts',
  description:
    'Lists the social media accounts that posts can be published on, with their health, and the groups of accounts.',
  scope: 'accounts:read',
  input: z.strictObject({}),
  run: (_args, { client }, signal) => readAccounts(client, signal),
})

export const getLimits = defineTool({
  ...read,
  name: 'get_limits',
  title: 'Get the limits of each platform',
  description:
    'Returns the limits for texts and media on each platform, and how many publications an account has left.',
  scope: 'accounts:read',
  input: z.strictObject({ accountId: accountId.optional() }),
  run: async ({ accountId: account }, { client }, signal) => ({
    limits: await client.accounts.limits({ ...(account === undefined ? {} : { account }) }, { signal }),
  }),
})

export const listPosts = defineTool({
  ...read,
  name: 'list_posts',
  title: 'List posts',
  description: 'Lists posts, newest first. Filters are combined.',
  scope: 'posts:read',
  input: z.strictObject({
    status: z.array(status).min(1).optional().describe('Posts in any of these statuses'),
    platform: platform.optional(),
    accounts: z.array(accountId).min(1).max(100).optional().describe('Posts for any of these accounts'),
    group: groupFilter,
    client: z.array(client).min(1).optional().describe('Posts that any of these wrote'),
    search: z.string().min(1).max(100).optional().describe('Text in the posts, in any case'),
    from: z.string().max(100).optional().describe('Earliest date (2027-05-01) or date-time'),
    to: z.string().max(100).optional().describe('Latest date or date-time'),
    limit: z.int().min(1).max(MAX_LIST_LIMIT).default(DEFAULT_LIST_LIMIT),
    page: z.int().min(1).default(1),
  }),
  run: ({ search, ...filters }, session, signal) =>
    readPosts(session.client, withoutUndefined({ ...filters, q: search }), signal),
})

export const getPost = defineTool({
  ...read,
  name: 'get_post',
  title: 'Get a post',
  description: 'Returns a post with its deliveries, latest metrics and timeline: every attempt, outcome and wait.',
  scope: 'posts:read',
  input: z.strictObject({ postId }),
  run: (args, { client }, signal) => readPost(client, args.postId, signal),
})

export const waitForPost = defineTool({
  ...read,
  name: 'wait_for_post',
  title: 'Wait for a post',
  description:
    'Waits until a post is published or has failed, and returns its deliveries. Returns the current status when the time ends; the delivery continues.',
  scope: 'posts:read',
  input: z.strictObject({ postId, seconds: z.int().min(1).max(MAX_WAIT_SECONDS).default(DEFAULT_WAIT_SECONDS) }),
  async run(args, { client }, signal) {
    const timeUp = AbortSignal.timeout(args.seconds * 1_000)
    const progress = await client.posts
      .waitUntilPublished(args.postId, { signal: AbortSignal.any([signal, timeUp]) })
      .catch((error: unknown) => {
        if (error !== timeUp.reason) throw error
        return client.posts.status(args.postId, { signal })
      })
    return {
      postId: progress.postId,
      status: progress.status,
      scheduledAt: progress.scheduledAt,
      dueAt: progress.dueAt,
      deliveries: progress.platformStatuses.map(presentDelivery),
    }
  },
})

export const analyticsOverview = defineTool({
  ...read,
  name: 'get_analytics_overview',
  title: 'Get an overview of analytics',
  description:
    'Returns totals, followers and the performance of each platform. Counts that a platform does not report are null.',
  scope: 'analytics:read',
  input: z.strictObject(analyticsFilters),
  run: (query, { client }, signal) => client.analytics.overview(withoutUndefined(query), { signal }),
})

export const topPosts = defineTool({
  ...read,
  name: 'get_top_posts',
  title: 'Get the top posts',
  description: 'Returns the posts with the highest value of a metric.',
  scope: 'analytics:read',
  input: z.strictObject({
    ...analyticsFilters,
    sortBy: z
      .enum(['totalEngagement', 'engagementRate', 'likes', 'shares', 'comments', 'impressions', 'reach', 'saved'])
      .optional()
      .describe('The default is totalEngagement'),
    limit: z.int().min(1).max(MAX_LIST_LIMIT).default(DEFAULT_LIST_LIMIT),
  }),
  async run(query, { client }, signal) {
    const posts = await client.analytics.topPosts(withoutUndefined(query), { signal })
    return {
      posts: posts.map(({ postId: id, platform: name, snapshotAt, metrics, derived, postDetails }) => ({
        postId: id,
        platform: name,
        text: postDetails.content.text,
        snapshotAt,
        metrics,
        derived,
      })),
    }
  },
})

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Returns the fields that have a value. */
function withoutUndefined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
}
