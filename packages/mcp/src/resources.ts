import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Client } from '@postonce/sdk'
import { toToolProblem } from './problems.ts'
import { readAccounts, readPost, readPosts } from './reads.ts'
import type { Scope } from './tools/tool.ts'

const RECENT_POSTS = 20
const MIME_TYPE = 'application/json'
/** The code that the MCP specification gives to a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32_002
const ID = /^[\da-f]{24}$/

interface FixedResource {
  name: string
  uri: string
  title: string
  description: string
  scope: Scope
  read(client: Client, signal: AbortSignal): Promise<object>
}

const RESOURCES: FixedResource[] = [
  {
    name: 'accounts',
    uri: 'postonce://accounts',
    title: 'Connected accounts',
    description: 'The accounts that posts can be published on, with their health, and the groups of accounts',
    scope: 'accounts:read',
    read: readAccounts,
  },
  {
    name: 'limits',
    uri: 'postonce://limits',
    title: 'Limits of each platform',
    description: 'The limits for texts and media, and how many publications are left',
    scope: 'accounts:read',
    read: (client, signal) => client.accounts.limits({}, { signal }),
  },
  {
    name: 'recent-posts',
    uri: 'postonce://posts/recent',
    title: 'Recent posts',
    description: `The newest ${RECENT_POSTS} posts`,
    scope: 'posts:read',
    read: (client, signal) => readPosts(client, { limit: RECENT_POSTS }, signal),
  },
]

/** Adds the resources that the scopes allow to read. */
export function registerResources(server: McpServer, client: Client, scopes: readonly Scope[]): void {
  for (const { name, uri, title, description, scope, read } of RESOURCES) {
    if (!scopes.includes(scope)) continue
    server.registerResource(name, uri, { title, description, mimeType: MIME_TYPE }, ({ href }, { signal }) =>
      toContents(href, read(client, signal)),
    )
  }
  if (!scopes.includes('posts:read')) return
  server.registerResource(
    'post',
    new ResourceTemplate('postonce://posts/{id}', { list: undefined }),
    { title: 'Post', description: 'A post with its deliveries, latest metrics and timeline', mimeType: MIME_TYPE },
    ({ href }, { id }, { signal }) => toContents(href, readPostResource(client, id, signal)),
  )
}

async function readPostResource(client: Client, id: string | string[] | undefined, signal: AbortSignal) {
  if (typeof id !== 'string' || !ID.test(id))
    throw new McpError(ErrorCode.InvalidParams, 'The id of a post has 24 digits.')
  return readPost(client, id, signal)
}

async function toContents(uri: string, reading: Promise<object>) {
  const value = await reading.catch((error: unknown) => {
    if (error instanceof McpError) throw error
    const { message, ...problem } = toToolProblem(error, true)
    throw new McpError(problem.code === 'NOT_FOUND' ? RESOURCE_NOT_FOUND : ErrorCode.InternalError, message, problem)
  })
  return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(value) }] }
}
