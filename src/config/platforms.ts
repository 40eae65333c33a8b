import type { Config } from './schema.ts'
import { parseList } from '../domain/shared/lists.ts'
import { toContactUrl } from './user-agent.ts'
import type { PlatformSettings } from '../platforms/registry.ts'

/** The settings of each platform. */
export function platformSettings(config: Config): PlatformSettings {
  return {
    bluesky: bluesky(config),
    threads: threads(config),
    mastodon: mastodon(config),
    tumblr: tumblr(config),
    facebook: facebook(config),
    instagram: instagram(config),
  }
}

function bluesky(config: Config): PlatformSettings['bluesky'] {
  return {
    entryUrl: config.BLUESKY_ENTRY_URL,
    accountHosts: parseList(config.BLUESKY_ACCOUNT_HOSTS),
    allowedPrivate: parseList(config.ALLOWED_PRIVATE_SERVERS),
    directoryUrl: config.BLUESKY_DIRECTORY_URL,
    videoUrl: config.BLUESKY_VIDEO_URL,
    appUrl: config.BLUESKY_APP_URL,
  }
}

function mastodon(config: Config): PlatformSettings['mastodon'] {
  const { MASTODON_INSTANCE_URL, MASTODON_CLIENT_ID, MASTODON_CLIENT_SECRET, MASTODON_CLIENT_NAME } = config
  if (MASTODON_INSTANCE_URL === '') return null
  return {
    instanceUrl: MASTODON_INSTANCE_URL,
    clientId: MASTODON_CLIENT_ID,
    clientSecret: MASTODON_CLIENT_SECRET,
    named: {
      only: parseList(config.MASTODON_INSTANCES),
      allowedPrivate: parseList(config.ALLOWED_PRIVATE_SERVERS),
      application: { name: MASTODON_CLIENT_NAME, website: toContactUrl(config) },
    },
  }
}

function tumblr(config: Config): PlatformSettings['tumblr'] {
  const { TUMBLR_CONSUMER_KEY, TUMBLR_CONSUMER_SECRET, TUMBLR_AUTHORIZE_URL, TUMBLR_API_URL } = config
  if (TUMBLR_CONSUMER_KEY === '') return null
  return {
    consumerKey: TUMBLR_CONSUMER_KEY,
    consumerSecret: TUMBLR_CONSUMER_SECRET,
    authorizeUrl: TUMBLR_AUTHORIZE_URL,
    apiUrl: TUMBLR_API_URL,
  }
}

function threads(config: Config): PlatformSettings['threads'] {
  const { THREADS_APP_ID, THREADS_APP_SECRET, THREADS_AUTHORIZE_URL, THREADS_GRAPH_URL } = config
  if (THREADS_APP_ID === '') return null
  return {
    appId: THREADS_APP_ID,
    appSecret: THREADS_APP_SECRET,
    authorizeUrl: THREADS_AUTHORIZE_URL,
    graphUrl: THREADS_GRAPH_URL,
    extraScopes: parseList(config.META_EXTRA_SCOPES).filter(isThreadsScope),
  }
}

/** Each of Meta's dialogs refuses the permissions of the other. */
const isThreadsScope = (scope: string): boolean => scope.startsWith('threads_')

function facebook(config: Config): PlatformSettings['facebook'] {
  if (config.FACEBOOK_APP_ID === '') return null
  return {
    dialogUrl: config.FACEBOOK_DIALOG_URL,
    graphUrl: config.FACEBOOK_GRAPH_URL,
    version: config.GRAPH_API_VERSION,
    appId: config.FACEBOOK_APP_ID,
    appSecret: config.FACEBOOK_APP_SECRET,
    extraScopes: parseList(config.META_EXTRA_SCOPES).filter((scope) => !isThreadsScope(scope)),
  }
}

/** Instagram accounts are connected through Facebook, with tokens of the same application. */
function instagram(config: Config): PlatformSettings['instagram'] {
  const { INSTAGRAM_GRAPH_URL, GRAPH_API_VERSION, FACEBOOK_APP_ID, FACEBOOK_APP_SECRET } = config
  if (FACEBOOK_APP_ID === '') return null
  return {
    graphUrl: INSTAGRAM_GRAPH_URL,
    version: GRAPH_API_VERSION,
    appId: FACEBOOK_APP_ID,
    appSecret: FACEBOOK_APP_SECRET,
  }
}
