import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { DEFAULT_AGES } from '../domain/analytics/collection.ts'

const text = (description: string, value?: string) =>
  Type.String({ description, ...(value === undefined ? {} : { default: value }) })
/** A URL; empty when not set. */
const address = (description: string, value?: string) =>
  Type.String({
    description: `${description} (URL)`,
    pattern: '^([A-Za-z][A-Za-z0-9+.-]*://\\S+)?$',
    ...(value === undefined ? {} : { default: value }),
  })
const number = (description: string, value: number, minimum = 0) =>
  Type.Number({ description, default: value, minimum })
/** The allowance of a plan, whose default depends on payments: see `planLimits`. */
const allowance = (description: string, withPayments: number) =>
  Type.Optional(
    Type.Integer({
      description: `${description}; by default ${withPayments} with payments, 1000000 without`,
      minimum: 0,
    }),
  )
/** A share that both our own turns and Temporal accept. */
const weight = (description: string, value: number) =>
  Type.Number({ description, default: value, minimum: 1, maximum: 1_000 })
const list = (description: string, value: string) => text(`${description}, separated by commas`, value)
/** Host names; a leading dot includes all subdomains. */
const hosts = (description: string) =>
  Type.String({
    description: `${description}; a leading dot includes all subdomains, separated by commas`,
    default: '',
    pattern: '^( *\\.?[a-z0-9][a-z0-9.-]* *(,|$))*$',
  })
/** Origins, such as http://127.0.0.1:3000; the port `*` means every port. */
const origins = (description: string) =>
  Type.String({
    description: `${description}, separated by commas`,
    default: '',
    pattern: '^( *https?://[A-Za-z0-9.:[\\]-]+(:\\*)?/? *(,|$))*$',
  })
/** A secret has no usable default: production refuses to start without it. */
const secret = (description: string, minLength = 32) => Type.String({ description, minLength, secret: true })

/** Permissions in Meta's format. Any other value would make every login fail on an error page. */
const SCOPE_NAMES = '^( *[a-z][a-z0-9_]* *(,|$))*$'

/**
 * Every setting, by the name of its environment variable. The list in docs/reference/configuration.md and the errors at startup
 * are generated from it. `context.ts` decides which process reads what.
 */
export const ConfigSchema = Type.Object(
  {
    NODE_ENV: Type.Union([Type.Literal('production'), Type.Literal('development'), Type.Literal('test')], {
      description: 'production refuses missing and default secrets',
      default: 'production',
    }),
    LOG_LEVEL: text('Minimum log level: trace, debug, info, warn, error or silent', 'info'),
    HOST: text('Address the API listens on', '0.0.0.0'),
    PORT: number('Port of the API', 4000),
    METRICS_PORT: number('Port of /metrics; 0 disables it', 0),
    PUBLIC_URL: address('Public address of the API', 'http://localhost:4000'),
    CONSOLE: Type.Union([Type.Literal('on'), Type.Literal('off')], {
      description: '`on` lets the API serve the console, a web frontend, at /',
      default: 'off',
    }),
    FRONTEND_URL: address(
      'Address of the frontend, for CORS and redirects; with CONSOLE=on the default is PUBLIC_URL',
      'http://localhost:3000',
    ),
    CONTACT_URL: address('Page about this service for the User-Agent of outgoing calls; empty means PUBLIC_URL', ''),
    CORS_ORIGINS: list('Additional exact origins allowed by CORS', ''),
    TRUSTED_PROXIES: list(
      'Proxy addresses or CIDR ranges whose X-Forwarded-For is trusted, or none; required with an https PUBLIC_URL',
      '',
    ),
    SHUTDOWN_GRACE_MS: number('Time for work in flight after SIGTERM', 15_000),

    MONGODB_URL: address('MongoDB replica set', 'mongodb://127.0.0.1:27017/postonce?replicaSet=rs0'),
    TEMPORAL_ADDRESS: text('host:port of the Temporal frontend', '127.0.0.1:7233'),
    TEMPORAL_NAMESPACE: text('Temporal namespace', 'default'),
    WORKER_QUEUES: list(
      'Task queues that this worker serves: publishing, preparing, notifying, billing, analytics, webhooks, maintenance; empty means all',
      '',
    ),
    WORKER_ACTIVITY_SLOTS: number('Deliveries that one worker may hold armed at a time', 6_000, 1),
    // Preparations mostly wait for an upload or a platform. Their memory is limited elsewhere.
    WORKER_PREPARATION_SLOTS: number('Preparations of media that one worker runs at a time', 200, 1),
    WORKER_NOTIFICATION_SLOTS: number('Mails and push messages that one worker sends at a time', 100, 1),
    WORKER_WEBHOOK_SLOTS: number('Webhooks that one worker delivers to at a time', 100, 1),
    PLATFORM_CALLS_IN_FLIGHT: number(
      'Initial concurrent publishing calls of one worker to a platform server; up to 8 times as many while latency holds',
      32,
      1,
    ),

    S3_ENDPOINT: address('S3 API', 'http://127.0.0.1:7070'),
    S3_REGION: text('S3 region', 'us-east-1'),
    S3_BUCKET: text('Bucket for media and avatars', 'postonce'),
    S3_ACCESS_KEY_ID: text('S3 access key', ''),
    S3_SECRET_ACCESS_KEY: secret('S3 secret key', 1),
    S3_PUBLIC_URL: address('Public base address of the bucket', 'http://127.0.0.1:7070/postonce'),

    JWT_SECRET: secret('Signs access tokens'),
    REFRESH_TOKEN_SECRET: secret('Derives refresh tokens, and the key that hashes one-time codes'),
    TOKEN_ENCRYPTION_KEYS: secret('Keys as kid:base64 of 32 bytes, separated by commas; the first one encrypts'),
    ACCESS_TOKEN_TTL_SECONDS: number('Lifetime of an access token', 600, 1),
    REFRESH_COOKIE_SAME_SITE: Type.Union([Type.Literal('lax'), Type.Literal('strict'), Type.Literal('none')], {
      description: 'SameSite of the refresh cookie; Secure with an https PUBLIC_URL, and with none',
      default: 'lax',
    }),
    REFRESH_COOKIE_DOMAIN: text('Domain of the refresh cookie; empty means this host only', ''),
    OAUTH_STATE_SECRET: secret('Signs the OAuth state that users carry to a platform and back'),
    CONNECT_COOKIE: Type.Union([Type.Literal('browsers'), Type.Literal('always')], {
      description: 'Clients that need a cookie to connect an account: always, or browsers (API clients need none)',
      default: 'always',
    }),

    RATE_LIMIT_PER_ADDRESS: number('Requests per minute and address', 600, 1),
    RATE_LIMIT_PER_USER: number('Requests per minute and user', 300, 1),
    SOCKETS_PER_PROCESS: number('Notification sockets per API process', 10_000, 1),
    SOCKETS_PER_USER: number('Notification sockets per user and API process', 20, 1),
    SOCKETS_WITHOUT_TOKEN: number('Unauthenticated notification sockets per API process', 1_000, 1),
    EVENT_STREAMS_PER_PROCESS: number('Open event streams per API process', 2_000, 1),
    EVENT_STREAMS_PER_USER: number('Open event streams per user and API process', 10, 1),
    LOGIN_FAILURES_PER_ACCOUNT: number('Failed logins in 15 minutes, per account and address or known device', 10, 1),
    LOGIN_FAILURES_PER_ADDRESS: number('Failed logins in 15 minutes, per address; an IPv6 /64 is one address', 50, 1),
    LOGIN_FAILURES_BEFORE_DELAY: number(
      'Failed logins per account from unknown devices before delays grow from 1 s to 15 minutes',
      10,
      1,
    ),

    OTP_PER_HOUR: number('One-time codes per hour, email address and sender', 2, 1),
    RESET_MAILS_PER_HOUR: number('Password-reset emails per hour, email address and sender', 2, 1),
    MAILS_PER_SENDER_PER_HOUR: number(
      'One-time codes and password-reset emails per hour and sender (an address or IPv6 /64)',
      20,
      1,
    ),
    CAPTIONS_PER_HOUR: number('Caption generations per hour and user', 50, 1),

    UPLOAD_QUOTA_BYTES: number(
      'Bytes of uploads per user that no post or profile uses; they are deleted within three days',
      5_000_000_000,
      1,
    ),

    SIGNUP_EMAIL_VERIFICATION: Type.Union([Type.Literal('on'), Type.Literal('off')], {
      description: 'Whether registration requires a code sent by email',
      default: 'on',
    }),
    SMTP_URL: address('Mail server, smtp:// or smtps:// with user and password; without it emails wait', ''),
    MAIL_FROM: text('Sender of emails', 'postonce <no-reply@localhost>'),
    GOOGLE_ISSUER_URL: address('OpenID provider of the login with Google', 'https://accounts.google.com'),
    GOOGLE_CLIENT_ID: text('OAuth client id at that provider; empty disables the login with Google', ''),
    GOOGLE_CLIENT_SECRET: text('OAuth client secret at that provider', ''),
    FCM_PROJECT_ID: text('Firebase project for push messages; empty disables push', ''),
    FCM_CLIENT_EMAIL: text('Service account of that project', ''),
    FCM_PRIVATE_KEY: text('Its private key in PEM; line ends may be written as \\n', ''),
    FCM_URL: address('Firebase Cloud Messaging API', 'https://fcm.googleapis.com'),
    FCM_TOKEN_URL: address('Token endpoint of the service account', 'https://oauth2.googleapis.com/token'),
    CAPTIONS_URL: address('OpenAI-compatible API for captions; empty means built-in templates', ''),
    CAPTIONS_API_KEY: text('Key of that API', ''),
    CAPTIONS_MODEL: text('Model for captions', 'gpt-5-mini'),
    CAPTIONS_TIMEOUT_MS: number('Deadline of one caption call', 20_000, 100),

    PLAN_FREE_MAX_POSTS: allowance('Post allowance of a new Free account', 30),
    PLAN_FREE_MAX_CAPTIONS: allowance('Caption allowance of a new Free account', 15),
    PLAN_PRO_MAX_POSTS: allowance('Post allowance of an account set to Pro', 60),
    PLAN_PRO_MAX_CAPTIONS: allowance('Caption allowance of an account set to Pro', 30),
    PLAN_FREE_MAX_ACCOUNTS: number(
      'Platform accounts that a Free user can connect; at least one on each platform',
      10,
      6,
    ),
    PLAN_PRO_MAX_ACCOUNTS: number('Platform accounts that a Pro user can connect', 50, 6),
    PLAN_FREE_WEIGHT: weight('Jobs per turn of a Free user while users wait for the same resource', 1),
    PLAN_PRO_WEIGHT: weight('Jobs per turn of a Pro user while users wait for the same resource', 2),
    SHARED_ACCOUNTS: Type.Union([Type.Literal('on'), Type.Literal('off')], {
      description: '`on` lets several users connect the same platform account, each with a login of their own',
      default: 'off',
    }),

    STRIPE_SECRET_KEY: text('Stripe secret key; empty disables payments', ''),
    STRIPE_WEBHOOK_SECRETS: list('Stripe webhook signing secrets; more than one during a rotation', ''),
    STRIPE_PRICE_ID: text('Stripe price id of the monthly Pro plan', ''),
    STRIPE_API_URL: address('Stripe API', 'https://api.stripe.com'),
    PAYMENTS_TIMEOUT_MS: number('Deadline of one Stripe call', 10_000, 100),

    PUBLISH_TIMEOUT_MS: number('Deadline of the call that makes a post visible', 8_000, 100),
    UNANSWERED_CALL_SETTLE_MS: number(
      'How long an unanswered call may take effect on platforms that do not detect repeats',
      600_000,
      1_000,
    ),
    USER_POSTS_AT_INSTANT: number('Posts of one user that are published at one instant; the others follow', 250, 1),
    USER_POSTS_PER_SECOND: number('Posts of one user that follow in each second after such an instant', 15, 1),
    DELIVERY_MAX_LATENESS_MS: number('A post that is later than this fails with TOO_LATE', 86_400_000),
    SLO_MISS_AFTER_MS: number(
      'A scheduled post that is not published this long after its time counts as a miss',
      60_000,
    ),
    WORKER_SILENCE_MS: number('A task queue without a poll for this long counts as not served', 90_000, 1_000),
    SWEEP_INTERVAL_MS: number('Interval of the sweeper', 30_000, 1_000),
    PREFLIGHT_LEAD_SECONDS: number('How long before they are due scheduled posts are checked again', 900, 60),
    NOTIFICATION_RETENTION_DAYS: number('How long notifications are stored after they were read', 90, 1),
    EVENT_RETENTION_DAYS: number('How long events are stored in the feed', 90, 1),

    ANALYTICS_AGES: list(
      'How often metrics are collected, as maximum post age in days:interval in minutes',
      DEFAULT_AGES,
    ),
    ANALYTICS_INTERVAL_MINUTES: number('Time between two runs of metrics collection', 15, 1),
    ANALYTICS_RETENTION_DAYS: number('How long snapshots of posts and accounts are stored', 400, 1),
    ANALYTICS_REFRESH_SECONDS: number('Minimum time between two manual metric refreshes of one user', 900, 1),
    ANALYTICS_DELETION_GRACE_SECONDS: number(
      'A post that its platform does not know can count as deleted this long after its publication',
      600,
    ),
    ANALYTICS_CALLS_IN_FLIGHT: number('Concurrent metrics calls of one worker to one platform server', 8, 1),
    ANALYTICS_TIMEOUT_MS: number('Deadline of one metrics call', 10_000, 100),

    BLUESKY_ENTRY_URL: address('Server where Bluesky logins start', 'https://bsky.social'),
    BLUESKY_ACCOUNT_HOSTS: hosts(
      'Servers of Bluesky accounts besides the entry, by host name; empty means every public one',
    ),
    BLUESKY_DIRECTORY_URL: address('Directory of Bluesky accounts (did:plc)', 'https://plc.directory'),
    BLUESKY_VIDEO_URL: address('Bluesky video service', 'https://video.bsky.app'),
    BLUESKY_APP_URL: address('Base address of links to published Bluesky posts', 'https://bsky.app'),
    MASTODON_INSTANCE_URL: address('Mastodon instance of accounts whose user names none; empty disables Mastodon', ''),
    MASTODON_CLIENT_ID: text('Application id on that instance', ''),
    MASTODON_CLIENT_SECRET: text('Application secret on that instance', ''),
    MASTODON_CLIENT_NAME: Type.String({
      description: 'Unique name of this service on instances that users name, shown with every post there',
      default: 'postonce',
      minLength: 1,
      maxLength: 60,
    }),
    MASTODON_INSTANCES: hosts(
      'Other Mastodon instances that users may name, by host name; empty means every public server',
    ),
    WEBHOOK_TIMEOUT_MS: number('Deadline of one attempt to deliver an event to a webhook', 15_000, 100),
    ALLOWED_PRIVATE_SERVERS: origins(
      'Private servers that users may name, as origins with a port or `*`; only for development and tests',
    ),
    THREADS_APP_ID: text('Application id on Threads (not on Facebook); empty disables Threads', ''),
    THREADS_APP_SECRET: text('Application secret on Threads', ''),
    THREADS_AUTHORIZE_URL: address('Threads website, for logins', 'https://threads.net'),
    THREADS_GRAPH_URL: address('Threads API', 'https://graph.threads.net'),
    TUMBLR_CONSUMER_KEY: text('Consumer key on Tumblr; empty disables Tumblr', ''),
    TUMBLR_CONSUMER_SECRET: text('Consumer secret on Tumblr', ''),
    TUMBLR_AUTHORIZE_URL: address('Tumblr website, for logins', 'https://www.tumblr.com'),
    TUMBLR_API_URL: address('Tumblr API', 'https://api.tumblr.com'),
    FACEBOOK_APP_ID: text('Application id on Facebook; empty disables Facebook and Instagram', ''),
    FACEBOOK_APP_SECRET: text('Application secret on Facebook', ''),
    FACEBOOK_DIALOG_URL: address('Facebook website, for logins and links to posts', 'https://www.facebook.com'),
    FACEBOOK_GRAPH_URL: address('Graph API for pages and logins', 'https://graph.facebook.com'),
    INSTAGRAM_GRAPH_URL: address('Graph API for Instagram', 'https://graph.facebook.com'),
    GRAPH_API_VERSION: text('Version of the Graph API', 'v26.0'),
    META_EXTRA_SCOPES: Type.String({
      description:
        'Additional permissions of Meta logins, such as read_insights; a first comment needs pages_manage_engagement on Facebook and instagram_manage_comments on Instagram',
      default: '',
      pattern: SCOPE_NAMES,
    }),
  },
  { additionalProperties: false },
)

export type Config = Readonly<Static<typeof ConfigSchema>>

/** Thrown by `readConfig`; names every invalid variable, never a value. */
export class ConfigError extends Error {
  readonly variables: string[]
  constructor(variables: string[]) {
    super(`Invalid configuration: ${variables.join('; ')}`)
    this.name = 'ConfigError'
    this.variables = variables
  }
}

/**
 * Reads the configuration from environment variables, fills in defaults and freezes it.
 * @throws ConfigError with one sentence per variable
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const raw: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(ConfigSchema.properties)) {
    const value = env[name]
    if (value !== undefined && value !== '') raw[name] = parseValue(schema, value)
  }
  if (raw['CONSOLE'] === 'on') {
    raw['FRONTEND_URL'] ??= raw['PUBLIC_URL'] ?? ConfigSchema.properties.PUBLIC_URL.default
  }
  const filled = Value.Default(ConfigSchema, raw)
  const problems = [...Value.Errors(ConfigSchema, filled)].map(
    (error) => `${error.path.slice(1)} ${explainProblem(error.schema)}`,
  )
  problems.push(
    ...findMissing(filled as Config),
    ...findUndecidedProxies(filled as Config),
    ...findPrivateServers(filled as Config),
  )
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  return Object.freeze(filled as Config)
}

/** Finds variables that another variable requires. */
function findMissing(config: Config): string[] {
  return NEEDED_WITH.flatMap(([name, needed]) =>
    config[name] === ''
      ? []
      : needed.filter((other) => config[other] === '').map((other) => `${other} must be set when ${name} is`),
  )
}

/** Behind an untrusted TLS proxy all clients share one address, and therefore one limit. */
function findUndecidedProxies({ NODE_ENV, PUBLIC_URL, TRUSTED_PROXIES }: Config): string[] {
  const isUndecided = NODE_ENV === 'production' && PUBLIC_URL?.startsWith('https:') && TRUSTED_PROXIES.trim() === ''
  return isUndecided
    ? ['TRUSTED_PROXIES must name the TLS proxy when PUBLIC_URL is https, or be "none" when the service has no proxy']
    : []
}

/** Users could reach the operator's own network through such a server. */
function findPrivateServers({ NODE_ENV, ALLOWED_PRIVATE_SERVERS }: Config): string[] {
  const isRefused = NODE_ENV === 'production' && ALLOWED_PRIVATE_SERVERS?.trim() !== ''
  return isRefused ? ['ALLOWED_PRIVATE_SERVERS must be empty in production'] : []
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

function parseValue(schema: TSchema, value: string): unknown {
  if (schema['type'] === 'number' || schema['type'] === 'integer') return value.trim() === '' ? NaN : Number(value)
  if (schema['type'] === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return value
}

function explainProblem(schema: TSchema): string {
  if (schema['secret']) return `is a secret that must be set, at least ${schema['minLength']} characters long`
  return `is missing or invalid: ${schema.description ?? ''}`
}
