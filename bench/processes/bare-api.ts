import Fastify, { type FastifyRequest } from 'fastify'
import { mongo } from 'mongoose'
import { CreatePostBody } from '../../src/api/posts/schema.ts'
import { readConfig } from '../../src/config.ts'
import { newPost } from '../../src/domain/post-moves.ts'
import { postCreated } from '../../src/domain/notifications.ts'
import type { Post } from '../../src/domain/post.ts'
import type { Session } from '../../src/store/sessions.ts'
import type { User } from '../../src/domain/user.ts'
import type { Static } from '@sinclair/typebox'
import { createAccessTokens } from '../../src/integrations/access-tokens.ts'
import { newId } from '../../src/store/schema-options.ts'
import { serve } from '../processes.ts'

/** The baseline: Fastify and the raw driver. The same check of the token, the same schema, the same records and queries; nothing else. */
const config = readConfig(process.env)
const client = await new mongo.MongoClient(config.MONGODB_URL).connect()
const db = client.db()
const users = db.collection<User>('users')
const sessions = db.collection<Session>('sessions')
const posts = db.collection<Post>('posts')
const notifications = db.collection<{ _id: string }>('bareNotifications')
const tokens = createAccessTokens({
  secret: config.JWT_SECRET,
  ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
  issuer: config.PUBLIC_URL,
})

async function callerOf(request: FastifyRequest): Promise<User> {
  const claims = tokens.verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  if (!claims) throw new Error('Unauthorized')
  const [user, session] = await Promise.all([
    users.findOne({ _id: claims.userId }),
    sessions.findOne({ _id: claims.sessionId }),
  ])
  if (!user || session?.userId !== user._id) throw new Error('Unauthorized')
  return user
}

const app = Fastify()

app.post<{ Body: Static<typeof CreatePostBody> }>(
  '/api/posts',
  { schema: { body: CreatePostBody } },
  async (request, reply) => {
    const caller = await callerOf(request)
    const { content, selectedPlatforms, scheduledAt } = request.body
    const post = newPost(
      {
        _id: newId(),
        userId: caller._id,
        content: { text: content.text, mediaItems: [] },
        platformSpecificContent: {},
        selectedPlatforms,
        scheduledAt: scheduledAt ? new Date(scheduledAt) : null,
        timezone: 'UTC',
        correlationId: null,
        requestHash: null,
        metadata: { source: 'api' },
        draft: false,
      },
      new Date(),
    )
    await posts.insertOne(post)
    await notifications.insertOne({ _id: newId(), ...postCreated(post) })
    await users.updateOne({ _id: caller._id }, { $inc: { 'usage.postsCreated': 1 } })
    return reply
      .code(201)
      .send({ success: true, data: { postId: post._id, status: post.status, scheduledAt: post.scheduledAt } })
  },
)

app.get<{ Params: { postId: string } }>('/api/posts/:postId/status', async (request) => {
  const caller = await callerOf(request)
  const post = await posts.findOne({ _id: request.params.postId, userId: caller._id })
  return { success: true, data: post }
})

app.get('/api/posts', async (request) => {
  const caller = await callerOf(request)
  const filter = { userId: caller._id }
  const [found, total] = await Promise.all([
    posts.find(filter).sort({ createdAt: -1, _id: -1 }).limit(20).toArray(),
    posts.countDocuments(filter),
  ])
  return { success: true, data: { posts: found, total } }
})

const address = await app.listen({ host: config.HOST, port: 0 })

serve(address, async () => {
  await app.close()
  await client.close()
})
