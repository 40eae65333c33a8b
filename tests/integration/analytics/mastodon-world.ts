import { Client, Connection } from '@temporalio/client'
import { startMastodon } from '../../../sandbox/platforms/mastodon.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { Context } from '../../../src/context.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { apiWorld } from '../../support/api.ts'
import { connecting } from '../../support/connecting.ts'
import { controlOf } from '../../support/platform-control.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { testConfig, unique } from '../../support/servers.ts'

/** Starts the API with Temporal, without workers, and a separate Mastodon server with accounts that have posts. */
export async function startMastodonWorld(overrides: Partial<Config> = {}) {
  const mastodon = await startMastodon()
  const redirectUris = [buildCallbackUrl(testConfig().PUBLIC_URL, 'mastodon')]
  const { clientId, clientSecret } = mastodon.createApp({ name: 'postonce', redirectUris })
  const { context, app, close } = await apiWorld({
    MASTODON_INSTANCE_URL: mastodon.url,
    MASTODON_CLIENT_ID: clientId,
    MASTODON_CLIENT_SECRET: clientSecret,
    WORKER_QUEUES: 'analytics',
    ...overrides,
  })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = context.config
  const temporal = await Connection.connect({ address })
  const { newUser } = connecting('mastodon', context, app)

  return {
    context,
    app,
    control: controlOf(mastodon.control),
    client: new Client({ connection: temporal, namespace }),

    /** Creates a user with `count` published posts on Mastodon. */
    async author(
      count: number,
      completedAt = new Date(),
    ): Promise<{ userId: string; accountId: string; posts: Post[] }> {
      const { userId, connect } = await newUser()
      const account = mastodon.createAccount({ username: unique('u').replace(/\W/g, '') })
      await connect(account.id)
      const posts = Array.from({ length: count }, (_, index) => {
        const { id } = mastodon.publishElsewhere(account, `Number ${index}`)
        return publishedPost({ userId, on: ['mastodon'], completedAt, accountId: account.id, platformPostId: id })
      })
      await storePosts(context, posts)
      return { userId, accountId: account.id, posts }
    },

    async close(): Promise<void> {
      await temporal.close()
      await close()
      await mastodon.stop()
    },
  }
}

export type MastodonWorld = Awaited<ReturnType<typeof startMastodonWorld>>

export const snapshotsIn = ({ database }: Context) => database.connection.collection('postSnapshots')
