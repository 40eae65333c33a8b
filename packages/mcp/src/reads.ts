import type { Client } from '@postonce/sdk'
import { presentAccount, presentGroup, presentPost } from './present.ts'

/** Data that tools and resources both return. */

export async function readAccounts(client: Client, signal: AbortSignal) {
  const [accounts, groups] = await Promise.all([client.accounts.list({ signal }), client.groups.list({ signal })])
  return { accounts: accounts.map(presentAccount), groups: groups.map(presentGroup) }
}

export async function readPost(client: Client, postId: string, signal: AbortSignal) {
  const [{ post, analytics, accountAnalytics }, { events }] = await Promise.all([
    client.request('GET', '/api/posts/{postId}', { path: { postId }, signal }),
    client.posts.timeline(postId, { signal }),
  ])
  return {
    post: presentPost(post),
    metrics: analytics,
    ...(accountAnalytics ? { accountMetrics: accountAnalytics } : {}),
    timeline: events,
  }
}

export async function readPosts(client: Client, query: Parameters<Client['posts']['list']>[0], signal: AbortSignal) {
  const { posts, total, page, totalPages } = await client.posts.list(query, { signal })
  return { posts: posts.map(presentPost), total, page, totalPages }
}
