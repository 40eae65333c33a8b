import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const text = (description: string, value?: string) =>
  Type.String({ description, ...(value === undefined ? {} : { default: value }) })
/** Empty where there is none. */
const address = (description: string, value?: string) =>
  Type.String({
    description: `${description} (URL)`,
    pattern: '^([A-Za-z][A-Za-z0-9+.-]*://\\S+)?$',
    ...(value === undefined ? {} : { default: value }),
  })
const number = (description: string, value: number, minimum = 0) =>
  Type.Number({ description, default: value, minimum })
const list = (description: string, value: string) => text(`${description}, separated by commas`, value)
/** Never has a usable default: production refuses to start without it. */
const secret = (description: string, minLength = 32) => Type.String({ description, minLength, secret: true })

/** Permissions as Meta names them; anything else would end every login on a page of errors. */
const SCOPE_NAMES = '^( *[a-z][a-z0-9_]* *(,|$))*$'

/**
 * Every setting, by the name of its environment variable. The table in docs/reference/configuration.md and the refusals at start are made from it.
 * Which process reads what is decided in `context.ts`.
 */
export const ConfigSchema = Type.Object(
  {
    NODE_ENV: Type.Union([Type.Literal('production'), Type.Literal('development'), Type.Literal('test')], {
      description: 'production refuses missing and default secrets',
      default: 'production',
    }),
    LOG_LEVEL: text('trace, debug, info, warn, error or silent', 'info'),
    HOST: text('Address the API listens on', '0.0.0.0'),
    PORT: number('Port of the API', 4000),
    METRICS_PORT: number('Port of /metrics; 0 switches it off', 0),
    PUBLIC_URL: address('Where clients reach the API', 'http://localhost:4000'),
    FRONTEND_URL: address('Where the frontend lives: CORS and redirects', 'http://localhost:3000'),
    CONTACT_URL: address(
      'Page about this service that outgoing calls name in their User-Agent; empty means PUBLIC_URL',
      '',
    ),
    CORS_ORIGINS: list('Further exact origins allowed by CORS', ''),
    TRUSTED_PROXIES: list(
      'Addresses or CIDR ranges whose X-Forwarded-For counts, or none; production needs it with an https PUBLIC_URL',
      '',
    ),
    SHUTDOWN_GRACE_MS: number('How long in-flight work may take after SIGTERM', 15_000),

    MONGODB_URL: address('MongoDB replica set', 'mongodb://127.0.0.1:27017/postonce?replicaSet=rs0'),
    TEMPORAL_ADDRESS: text('host:port of the Temporal frontend', '127.0.0.1:7233'),
    TEMPORAL_NAMESPACE: text('Temporal namespace', 'default'),
    WORKER_QUEUES: list(
      'Task queues this worker serves: publishing, preparing, notifying, billing, analytics, maintenance; empty means all',
      '',
    ),
    WORKER_ACTIVITY_SLOTS: number('Deliveries that may wait armed in one worker', 2_000, 1),
    PLATFORM_CALLS_IN_FLIGHT: number('Visible calls to one platform at a time, per worker', 32, 1),

    S3_ENDPOINT: address('S3 API', 'http://127.0.0.1:7070'),
    S3_REGION: text('S3 region', 'us-east-1'),
    S3_BUCKET: text('Bucket of media and avatars', 'postonce'),
    S3_ACCESS_KEY_ID: text('S3 access key', ''),
    S3_SECRET_ACCESS_KEY: secret('S3 secret key', 1),
    S3_PUBLIC_URL: address(
      'Public base address of the bucket, the start of every storageUrl',
      'http://127.0.0.1:7070/postonce',
    ),

    JWT_SECRET: secret('Signs access tokens'),
    REFRESH_TOKEN_SECRET: secret('Derives successors of refresh cookies; a key made of it hashes one-time codes'),
    TOKEN_ENCRYPTION_KEYS: secret('kid:base64 of 32 bytes, several separated by commas; the first one writes'),
    ACCESS_TOKEN_TTL_SECONDS: number('Life of an access token', 600, 1),
    REFRESH_COOKIE_SAME_SITE: Type.Union([Type.Literal('lax'), Type.Literal('strict'), Type.Literal('none')], {
      description: 'SameSite of the refresh cookie; Secure is on when PUBLIC_URL is https, and always with none',
      default: 'lax',
    }),
    REFRESH_COOKIE_DOMAIN: text('Domain of the refresh cookie; empty means this host only', ''),
    OAUTH_STATE_SECRET: secret('Signs what goes with users to a platform and back'),
    CONNECT_COOKIE: Type.Union([Type.Literal('browsers'), Type.Literal('always')], {
      description:
        'Who must keep a cookie while an account is connected on a platform: always (every client), or browsers (API clients need none)',
      default: 'always',
    }),

    RATE_LIMIT_PER_ADDRESS: number('Requests a minute and address', 600, 1),
    RATE_LIMIT_PER_USER: number('Requests a minute and user', 300, 1),
    SOCKETS_PER_PROCESS: number('Connections that listen for notifications, per API process', 10_000, 1),
    SOCKETS_PER_USER: number('The same, per user and API process', 20, 1),
    SOCKETS_WITHOUT_TOKEN: number('The same, of those that have not said yet who they are', 1_000, 1),
    LOGIN_FAILURES_PER_ACCOUNT: number('Failed logins in 15 minutes, per account and address or known device', 10, 1),
    LOGIN_FAILURES_PER_ADDRESS: number('Failed logins in 15 minutes, per address; an IPv6 /64 is one address', 50, 1),
    LOGIN_FAILURES_BEFORE_DELAY: number(
      'Failed logins per account from unknown devices before delays grow from 1 s to 15 minutes',
      10,
      1,
    ),

    OTP_PER_HOUR: number('One-time codes per hour, mail address and sender', 2, 1),
    RESET_MAILS_PER_HOUR: number('Password-reset mails per hour, mail address and sender', 2, 1),
    MAILS_PER_SENDER_PER_HOUR: number(
      'One-time codes and reset mails per hour and sender; a sender is one address or IPv6 /64',
      20,
      1,
    ),
    CAPTIONS_PER_HOUR: number('Caption generations an hour and user', 50, 1),

    UPLOAD_QUOTA_BYTES: number(
      'Bytes of uploads per user that no post and no profile uses; they are deleted within three days',
      5_000_000_000,
      1,
    ),

    SIGNUP_EMAIL_VERIFICATION: Type.Union([Type.Literal('on'), Type.Literal('off')], {
      description: 'Whether registration needs a code that was sent to the address',
      default: 'on',
    }),
    SMTP_URL: address('Mail server, smtp:// or smtps:// with user and password; without it mails wait unsent', ''),
    MAIL_FROM: text('Sender of mails', 'postonce <no-reply@localhost>'),
    GOOGLE_ISSUER_URL: address('OpenID provider behind the login with Google', 'https://accounts.google.com'),
    GOOGLE_CLIENT_ID: text('This service as a client of that provider; empty switches it off', ''),
    GOOGLE_CLIENT_SECRET: text('Secret of that client', ''),
    FCM_PROJECT_ID: text('Firebase project that push messages go through; empty switches push off', ''),
    FCM_CLIENT_EMAIL: text('Service account of that project', ''),
    FCM_PRIVATE_KEY: text('Private key of the service account, in PEM; \\n stands for line ends', ''),
    FCM_URL: address('Where Firebase takes push messages', 'https://fcm.googleapis.com'),
    FCM_TOKEN_URL: address('Where the service account gets its access tokens', 'https://oauth2.googleapis.com/token'),
    CAPTIONS_URL: address('Any API that speaks as OpenAI does, for captions; empty means built-in templates', ''),
    CAPTIONS_API_KEY: text('Key of that API', ''),
    CAPTIONS_MODEL: text('Model to ask there', 'gpt-5-mini'),
    CAPTIONS_TIMEOUT_MS: number('Deadline of one call for captions', 20_000, 100),

    PLAN_FREE_MAX_POSTS: number('Posts of a new Free account', 30),
    PLAN_FREE_MAX_CAPTIONS: number('Caption generations of a new Free account', 15),
    PLAN_PRO_MAX_POSTS: number('Posts of an account set to Pro', 60),
    PLAN_PRO_MAX_CAPTIONS: number('Caption generations of an account set to Pro', 30),

    STRIPE_SECRET_KEY: text('Key of the payment processor; empty switches payments off', ''),
    STRIPE_WEBHOOK_SECRETS: list('Secrets that its webhooks are signed with; more than one while they are changed', ''),
    STRIPE_PRICE_ID: text('The monthly price of Pro there', ''),
    STRIPE_API_URL: address('Its API', 'https://api.stripe.com'),
    PAYMENTS_TIMEOUT_MS: number('Deadline of one call to it', 10_000, 100),

    PUBLISH_TIMEOUT_MS: number('Deadline of the one call that makes a post visible', 8_000, 100),
    UNANSWERED_CALL_SETTLE_MS: number(
      'How long such a call may still take effect when it got no answer, where the platform does not recognise repeats',
      600_000,
      1_000,
    ),
    DELIVERY_MAX_LATENESS_MS: number('A post later than this fails with TOO_LATE', 86_400_000),
    SLO_MISS_AFTER_MS: number('A scheduled post that is not out this long after its instant is a miss', 60_000),
    WORKER_SILENCE_MS: number(
      'A task queue on which no worker asked for work for this long is not served; an idle worker asks once a minute',
      90_000,
      1_000,
    ),
    SWEEP_INTERVAL_MS: number('How often the sweeper looks for deliveries nobody moves', 30_000, 1_000),

    ANALYTICS_AGES: list(
      'How often the metrics of published posts are taken: up to so many days of age:so many minutes',
      '1:15,7:60,30:360',
    ),
    ANALYTICS_RETENTION_DAYS: number('How long snapshots of posts and accounts are kept', 400, 1),
    ANALYTICS_REFRESH_SECONDS: number('A user may ask for fresh metrics of a post once in this time', 900, 1),
    ANALYTICS_DELETION_GRACE_SECONDS: number(
      'A post that its platform does not know counts as deleted once it has been out for this long',
      600,
    ),
    ANALYTICS_CALLS_IN_FLIGHT: number('Calls for metrics to one platform at a time, per worker', 8, 1),
    ANALYTICS_TIMEOUT_MS: number('Deadline of one such call', 10_000, 100),

    BLUESKY_ENTRY_URL: address('Where Bluesky logins start', 'https://bsky.social'),
    BLUESKY_ACCOUNT_HOSTS: list(
      'Hosts besides the entry that Bluesky accounts may live on; a leading dot means every host below',
      '.host.bsky.network',
    ),
    BLUESKY_VIDEO_URL: address('Where Bluesky takes large videos', 'https://video.bsky.app'),
    BLUESKY_APP_URL: address('Base of the links to published Bluesky posts', 'https://bsky.app'),
    MASTODON_INSTANCE_URL: address('The Mastodon instance on which accounts live; empty switches Mastodon off', ''),
    MASTODON_CLIENT_ID: text('This service as an application on the instance, made once by POST /api/v1/apps', ''),
    MASTODON_CLIENT_SECRET: text('Secret of that application', ''),
    THREADS_APP_ID: text('This service as an application on Threads (not on Facebook); empty switches Threads off', ''),
    THREADS_APP_SECRET: text('Secret of that application', ''),
    THREADS_AUTHORIZE_URL: address('Where Threads logins are confirmed', 'https://threads.net'),
    THREADS_GRAPH_URL: address('The API of Threads', 'https://graph.threads.net'),
    TUMBLR_CONSUMER_KEY: text('This service as an application on Tumblr; empty switches Tumblr off', ''),
    TUMBLR_CONSUMER_SECRET: text('Secret of that application', ''),
    TUMBLR_AUTHORIZE_URL: address('Where Tumblr has its pages for people, and OAuth', 'https://www.tumblr.com'),
    TUMBLR_API_URL: address('Where Tumblr has its API', 'https://api.tumblr.com'),
    FACEBOOK_APP_ID: text('This service as an application on Facebook; empty switches Facebook and Instagram off', ''),
    FACEBOOK_APP_SECRET: text('Secret of that application', ''),
    FACEBOOK_DIALOG_URL: address(
      'Where Facebook logins are confirmed, and posts are looked at',
      'https://www.facebook.com',
    ),
    FACEBOOK_GRAPH_URL: address('The Graph API, for pages and logins', 'https://graph.facebook.com'),
    INSTAGRAM_GRAPH_URL: address('The Graph API, for Instagram', 'https://graph.facebook.com'),
    GRAPH_API_VERSION: text('Version of the Graph API', 'v26.0'),
    META_EXTRA_SCOPES: Type.String({
      description:
        'Permissions that the login of Facebook and Instagram asks for besides, as read_insights for views and reach of pages, separated by commas',
      default: '',
      pattern: SCOPE_NAMES,
    }),
  },
  { additionalProperties: false },
)

export type Config = Readonly<Static<typeof ConfigSchema>>

/** Thrown by `readConfig`; names every wrong variable, never a value. */
export class ConfigError extends Error {
  readonly variables: string[]
  constructor(variables: string[]) {
    super(`Configuration is not usable: ${variables.join('; ')}`)
    this.name = 'ConfigError'
    this.variables = variables
  }
}

/**
 * Reads the configuration once from environment variables, fills in defaults and freezes it.
 * @throws ConfigError with one sentence a variable
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const raw: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(ConfigSchema.properties)) {
    const value = env[name]
    if (value !== undefined && value !== '') raw[name] = parse(schema, value)
  }
  const filled = Value.Default(ConfigSchema, raw)
  const wrong = [...Value.Errors(ConfigSchema, filled)].map(
    (error) => `${error.path.slice(1)} ${explain(error.schema)}`,
  )
  wrong.push(...missingOf(filled as Config), ...undecidedProxies(filled as Config))
  if (wrong.length > 0) throw new ConfigError([...new Set(wrong)])
  return Object.freeze(filled as Config)
}

/** What is needed only where something else is set. */
function missingOf(config: Config): string[] {
  return NEEDED_WITH.flatMap(([name, needed]) =>
    config[name] === ''
      ? []
      : needed.filter((other) => config[other] === '').map((other) => `${other} must be set where ${name} is`),
  )
}

/** Behind a TLS proxy that is not trusted all clients share one address, and with it one limit. */
function undecidedProxies({ NODE_ENV, PUBLIC_URL, TRUSTED_PROXIES }: Config): string[] {
  const isUndecided = NODE_ENV === 'production' && PUBLIC_URL?.startsWith('https:') && TRUSTED_PROXIES.trim() === ''
  return isUndecided
    ? ['TRUSTED_PROXIES must name the TLS proxy where PUBLIC_URL is https, or be "none" where the service has no proxy']
    : []
}

const NEEDED_WITH: [keyof Config, (keyof Config)[]][] = [
  ['MASTODON_INSTANCE_URL', ['MASTODON_CLIENT_ID', 'MASTODON_CLIENT_SECRET']],
  ['THREADS_APP_ID', ['THREADS_APP_SECRET']],
  ['TUMBLR_CONSUMER_KEY', ['TUMBLR_CONSUMER_SECRET']],
  ['FACEBOOK_APP_ID', ['FACEBOOK_APP_SECRET']],
  ['GOOGLE_CLIENT_ID', ['GOOGLE_CLIENT_SECRET']],
  ['FCM_PROJECT_ID', ['FCM_CLIENT_EMAIL', 'FCM_PRIVATE_KEY']],
  ['CAPTIONS_URL', ['CAPTIONS_API_KEY']],
  ['STRIPE_SECRET_KEY', ['STRIPE_WEBHOOK_SECRETS', 'STRIPE_PRICE_ID']],
]

function parse(schema: TSchema, value: string): unknown {
  if (schema['type'] === 'number') return value.trim() === '' ? NaN : Number(value)
  if (schema['type'] === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return value
}

function explain(schema: TSchema): string {
  if (schema['secret']) return `is a secret that must be set, at least ${schema['minLength']} characters long`
  return `is missing or wrong: ${schema.description ?? ''}`
}
