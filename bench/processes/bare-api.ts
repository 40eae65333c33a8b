import { createRequire } from 'node:module'
import type { Static } from '@sinclair/typebox'
import { Connection, WorkflowClient } from '@temporalio/client'
import Fastify, { type FastifyRequest } from 'fastify'
import type { mongo } from 'mongoose'
import { CreatePostBody } from '../../src/api/posts/schemas/post-input.ts'
import { postCreated } from '../../src/domain/notifications/notifications.ts'
import { newPost } from '../../src/domain/posts/post-moves.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import type { User } from '../../src/domain/users/user.ts'
import type { Notification } from '../../src/store/notifications/notifications.ts'
import type { Session } from '../../src/store/users/sessions.ts'
import { createAccessTokens } from '../../tests/support/sessions.ts'
import { serve, setting } from '../processes.ts'

// This process is the baseline: Fastify and the raw driver, without mongoose and the rest of the service. Token verification, body
// schema, records, queries, indexes and pool size are those of the service. It returns whole records, which is faster than selecting
// fields.

const PAGE_SIZE = 20

// Loads the driver that mongoose depends on without loading mongoose.
const { MongoClient, ObjectId } = createRequire(import.meta.resolve('mongoose'))('mongodb') as typeof mongo
const client = await new MongoClient(setting('MONGODB_URL'), { maxPoolSize: 20, w: 'majority' }).connect()
const db = client.db()
const users = db.collection<User>('users')
const sessions = db.collection<Session>('sessions')
const posts = db.collection<Post>('posts')
const notifications = db.collection<Notification>('notifications')
const connection = await Connection.connect({ address: setting('TEMPORAL_ADDRESS') })
const workflows = new WorkflowClient({ connection, namespace: setting('TEMPORAL_NAMESPACE') })
const tokens = await createAccessTokens({
  JWT_SECRET: setting('JWT_SECRET'),
  ACCESS_TOKEN_TTL_SECONDS: Number(setting('ACCESS_TOKEN_TTL_SECONDS')),
  PUBLIC_URL: setting('PUBLIC_URL'),
})
const newId = () => new ObjectId().toHexString()

/** Returns the user of the access token. Like the service, it reads the user and the session on every request. */
async function callerOf(request: FastifyRequest): Promise<User> {
  const claims = tokens.verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  if (!claims) throw new Error('Unauthorized')
  const [user, session] = await Promise.all([
    users.findOne({ _id: claims.userId }),
    sessions.findOne({ _id: claims.sessionId }),
  ])
  const isValid =
    user?.tokenVersion === claims.version && session?.userId === user._id && session.expiresAt.getTime() > Date.now()
  if (!isValid || user.isDisabled) throw new Error('Unauthorized')
  return user
}

type Body = Static<typeof CreatePostBody>

function postOf({ content, selectedPlatforms, scheduledAt }: Body, userId: string): Post {
  const post = newPost(
    {
      _id: newId(),
      userId,
      content: { text: content.text, mediaItems: [] },
      platformSpecificContent: {},
      selectedPlatforms: selectedPlatforms ?? [],
      scheduledAt: scheduledAt ? new Date(scheduledAt) : null,
      timezone: 'UTC',
      correlationId: null,
      requestHash: null,
      metadata: { source: 'api', client: 'api' },
      draft: false,
    },
    new Date(),
  )
  // The service has none left to start when the next measurement begins.
  return { ...post, startPending: false }
}

async function store(post: Post, session?: mongo.ClientSession): Promise<void> {
  const options = session ? { session } : {}
  await posts.insertOne(post, options)
  const created = {
    ...postCreated(post, 'UTC'),
    _id: newId(),
    isListed: true,
    read: false,
    createdAt: post.createdAt,
    push: { state: 'none' as const },
  }
  await notifications.insertOne(created, options)
  await users.updateOne({ _id: post.userId }, { $inc: { 'usage.postsCreated': 1 } }, options)
}

const storeInTransaction = (post: Post) =>
  client.withSession((session) => session.withTransaction(() => store(post, session)))

const app = Fastify()

/** Each route does more than the one before it, with the same response. */
const ROUTES: Record<string, (post: Post) => Promise<unknown>> = {
  '/api/posts': (post) => store(post),
  '/transaction/api/posts': storeInTransaction,
  // No worker polls this queue: Temporal stores the start, as it does for posts that are due later.
  '/started/api/posts': async (post) => {
    await storeInTransaction(post)
    await workflows.start('bare', { workflowId: post._id, taskQueue: 'bare', args: [post._id] })
  },
}

for (const [path, create] of Object.entries(ROUTES)) {
  app.post<{ Body: Body }>(path, { schema: { body: CreatePostBody } }, async (request, reply) => {
    const post = postOf(request.body, (await callerOf(request))._id)
    await create(post)
    return reply.code(201).send({ success: true, data: { postId: post._id, status: post.status } })
  })
}

app.get<{ Params: { postId: string } }>('/api/posts/:postId/status', async (request) => {
  const caller = await callerOf(request)
  const post = await posts.findOne({ _id: request.params.postId, userId: caller._id })
  if (!post) throw new Error('Not found')
  return { success: true, data: post }
})

app.get('/api/posts', async (request) => {
  const caller = await callerOf(request)
  const filter = { userId: caller._id }
  const [found, total] = await Promise.all([
    posts.find(filter).sort({ createdAt: -1, _id: -1 }).limit(PAGE_SIZE).toArray(),
    posts.countDocuments(filter),
  ])
  return { success: true, data: { posts: found, total } }
})

const address = await app.listen({ host: setting('HOST'), port: 0 })

serve(address, async () => {
  await app.close()
  await connection.close()
  await client.close()
})
