import { join } from 'node:path'
import { buildCallbackUrl } from '../../src/domain/accounts/platform-connect.ts'
import { platformLabel, type Platform } from '../../src/domain/shared/platforms.ts'
import { startAll } from '../start-all.ts'
import { startBluesky } from './bluesky.ts'
import { startMastodon } from './mastodon.ts'
import { startMeta } from './meta.ts'
import {
  connectByPage,
  type Behaviour,
  type RunningPlatform,
  type SandboxAccount,
  type SandboxPlatform,
  type UserApi,
} from './sandbox-platform.ts'
import { NO_CROWD } from './shared/crowd.ts'
import type { Front } from './shared/simulator.ts'
import { startTumblr } from './tumblr.ts'
import { startThreads } from './threads.ts'

/** All simulated platforms. */
const SANDBOX_PLATFORMS: SandboxPlatform[] = [
  { name: 'bluesky', start: bluesky },
  { name: 'mastodon', start: mastodon },
  { name: 'tumblr', start: tumblr },
  { name: 'threads', start: threads },
  { name: 'meta', start: meta },
]

/** High limits, so that experiments do not hit quotas. */
const UNLIMITED = 1_000_000

const noCrowd = () => NO_CROWD

/** The name of the second Mastodon server wherever servers are listed. */
export const SECOND_MASTODON = 'Mastodon 2'

/** Another server of a platform. It is no front of the platform, because default accounts are not on it. */
export type SecondServer = Front & Required<Pick<RunningPlatform, 'env' | 'connectFurther' | 'stop'>>

/** Starts all platforms. Each stores its data in its own folder under `dir`. */
export function startPlatforms(dir: string, behaviour: Behaviour = {}): Promise<RunningPlatform[]> {
  return startAll(SANDBOX_PLATFORMS.map(({ name, start }) => start(join(dir, name), behaviour)))
}

export function listFronts(platforms: RunningPlatform[]): [Platform, Front][] {
  return platforms.flatMap(({ fronts }) => Object.entries(fronts) as [Platform, Front][])
}

/** A server with posts that the public sees. */
export interface PostServer extends Front {
  platform: Platform
  title: string
}

/** Returns all servers with posts, each second server after the first server of the platform. */
export function listPostServers(platforms: RunningPlatform[], { url, control }: Front): PostServer[] {
  return listFronts(platforms).flatMap(([platform, front]) => [
    { ...front, platform, title: platformLabel(platform) },
    ...(platform === 'mastodon' ? [{ url, control, platform, title: SECOND_MASTODON }] : []),
  ])
}

async function bluesky(dir: string, behaviour: Behaviour): Promise<RunningPlatform> {
  const { processingMs, crowdOn = noCrowd, bluesky: running } = behaviour
  const server = running ?? (await startBluesky({ dir, crowd: crowdOn('bluesky') }))
  const { url, directoryUrl, control, video, createAccount } = server
  if (processingMs) video.processingMs = processingMs.video
  const accountOf = (name: string) => createAccount({ handle: `${name}.test` })
  async function logIn(name: string, api: UserApi, query = ''): Promise<SandboxAccount> {
    const { did, handle, password, appPassword } = await accountOf(name)
    await api.call('POST', `/api/platform/bluesky/connect${query}`, { identifier: handle, appPassword })
    const secrets = { 'an app password': appPassword, 'a main password': password }
    return { platform: 'bluesky', account: handle, accountId: did, secrets }
  }
  return {
    fronts: { bluesky: { url, control } },
    env: () => ({
      BLUESKY_ENTRY_URL: url,
      BLUESKY_VIDEO_URL: url,
      BLUESKY_APP_URL: url,
      BLUESKY_DIRECTORY_URL: directoryUrl,
    }),
    async facts(name) {
      const { handle, appPassword } = await accountOf(name)
      return { identifier: handle, appPassword }
    },
    connect: async (name, api) => [await logIn(name, api)],
    connectFurther: (name, api) => logIn(name, api, '?replace=false'),
    async stop() {
      if (!running) await server.stop()
    },
  }
}

const HIGH_LIMIT = { max: UNLIMITED, seconds: 300 }
const MASTODON_ROOM = { api: HIGH_LIMIT, media: HIGH_LIMIT, deletes: HIGH_LIMIT, statuses: HIGH_LIMIT }

async function mastodon(dir: string, behaviour: Behaviour): Promise<RunningPlatform> {
  const { processingMs, mastodonOfAnotherMaker = false, crowdOn = noCrowd } = behaviour
  const { url, control, createAccount, createApp, stop } = await startMastodon({
    dir,
    rateLimits: MASTODON_ROOM,
    crowd: crowdOn('mastodon'),
    honoursKeys: !mastodonOfAnotherMaker,
    namesApplication: !mastodonOfAnotherMaker,
    renamesMedia: mastodonOfAnotherMaker,
    language: mastodonOfAnotherMaker ? 'de' : 'en',
    ...(processingMs && { processingMs: processingMs.video }),
  })
  return {
    fronts: { mastodon: { url, control } },
    env(publicUrl) {
      const app = createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(publicUrl, 'mastodon')] })
      return {
        MASTODON_INSTANCE_URL: url,
        MASTODON_CLIENT_ID: app.clientId,
        MASTODON_CLIENT_SECRET: app.clientSecret,
      }
    },
    async connect(name, api) {
      const { id, username } = createAccount({ username: name.replaceAll('-', '_'), displayName: 'Sandbox user' })
      await connectByPage('mastodon', id, api)
      return [{ platform: 'mastodon', account: username, accountId: id, secrets: {} }]
    },
    stop,
  }
}

/**
 * Starts a second Mastodon server, which users can name. It is of another software: it ignores idempotency keys, does
 * not report the application, counts code points and accepts longer texts.
 */
export async function startSecondMastodon(dir: string, { crowdOn = noCrowd }: Behaviour = {}): Promise<SecondServer> {
  const { url, control, createAccount, stop } = await startMastodon({
    dir: join(dir, 'second-mastodon'),
    title: SECOND_MASTODON,
    rateLimits: MASTODON_ROOM,
    crowd: crowdOn('mastodon'),
    honoursKeys: false,
    namesApplication: false,
    countsCodePoints: true,
    maxCharacters: 5_000,
  })
  return {
    url,
    control,
    env: () => ({ ALLOWED_PRIVATE_SERVERS: url }),
    async connectFurther(name, api) {
      const { id, username } = createAccount({ username: name, displayName: 'Sandbox user' })
      await connectByPage('mastodon', id, api, url)
      return { platform: 'mastodon', account: username, accountId: id, secrets: {} }
    },
    stop,
  }
}

/** Tumblr's real limits cover a whole application and a whole day, which is too little for experiments. */
const TUMBLR_ROOM = { perHour: 1_000_000, perDay: 10_000_000, posts: 100_000, photos: 100_000, videos: 100_000 }

async function tumblr(dir: string, { crowdOn = noCrowd }: Behaviour): Promise<RunningPlatform> {
  const { url, control, createAccount, createApp, stop } = await startTumblr({
    dir,
    limits: TUMBLR_ROOM,
    crowd: crowdOn('tumblr'),
  })
  return {
    fronts: { tumblr: { url, control } },
    env(publicUrl) {
      const app = createApp({ name: 'postonce', callbackUrl: buildCallbackUrl(publicUrl, 'tumblr') })
      return {
        TUMBLR_CONSUMER_KEY: app.consumerKey,
        TUMBLR_CONSUMER_SECRET: app.consumerSecret,
        TUMBLR_AUTHORIZE_URL: url,
        TUMBLR_API_URL: url,
      }
    },
    async connect(name, api) {
      const blog = createAccount({ name, title: 'Sandbox user' })
      await connectByPage('tumblr', blog.loginId, api)
      return [{ platform: 'tumblr', account: blog.name, accountId: blog.uuid, secrets: {} }]
    },
    stop,
  }
}

async function threads(dir: string, { processingMs, crowdOn = noCrowd }: Behaviour): Promise<RunningPlatform> {
  const { url, control, createAccount, createApp, stop } = await startThreads({
    dir,
    quota: UNLIMITED,
    crowd: crowdOn('threads'),
    ...(processingMs && { processingMs }),
  })
  return {
    fronts: { threads: { url, control } },
    env(publicUrl) {
      const app = createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(publicUrl, 'threads')] })
      return {
        THREADS_APP_ID: app.id,
        THREADS_APP_SECRET: app.secret,
        THREADS_AUTHORIZE_URL: url,
        THREADS_GRAPH_URL: url,
      }
    },
    async connect(name, api) {
      const { id, username } = createAccount({ username: name.replaceAll('-', '_'), name: 'Sandbox user' })
      await connectByPage('threads', id, api)
      return [{ platform: 'threads', account: username, accountId: id, secrets: {} }]
    },
    stop,
  }
}

async function meta(dir: string, { processingMs, crowdOn = noCrowd }: Behaviour): Promise<RunningPlatform> {
  const { facebook, instagram, createPersonWithPage, createApp, stop } = await startMeta({
    dir,
    instagramQuota: { posts: UNLIMITED, containers: UNLIMITED },
    crowds: { facebook: crowdOn('facebook'), instagram: crowdOn('instagram') },
    ...(processingMs && { processingMs: processingMs.video, imageProcessingMs: processingMs.image }),
  })
  return {
    fronts: { facebook, instagram },
    env(publicUrl) {
      const app = createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(publicUrl, 'facebook')] })
      return {
        FACEBOOK_APP_ID: app.id,
        FACEBOOK_APP_SECRET: app.secret,
        FACEBOOK_DIALOG_URL: facebook.url,
        FACEBOOK_GRAPH_URL: facebook.url,
        INSTAGRAM_GRAPH_URL: instagram.url,
        // Comments, replies and removals need more than the interface lists.
        META_EXTRA_SCOPES:
          'pages_manage_engagement,pages_read_user_content,instagram_manage_comments,threads_read_replies,threads_delete',
      }
    },
    async connect(name, api) {
      const { person, pages } = createPersonWithPage(name)
      await connectByPage('facebook', person.id, api)
      const { id, username, instagramId } = pages[0]!
      return [
        { platform: 'facebook', account: id, accountId: id, secrets: {} },
        { platform: 'instagram', account: username!, accountId: instagramId!, secrets: {} },
      ]
    },
    stop,
  }
}
