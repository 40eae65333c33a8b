import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../scripts/provision.mjs'
import { PROJECT_ROOT, type Options } from './options.ts'
import { startProcess, type Running } from './servers/process.ts'
import type { Settings } from './settings.ts'

/** Experiments must not hit the rate limits for strangers. */
const NO_LIMIT = '1000000'

/** Experiments and guides must not reach the limits of plans, and Pro has more of everything. */
export const PLAN_LIMITS = {
  free: { maxPosts: 1_000, maxCaptionGenerations: 1_000 },
  pro: { maxPosts: 2_000, maxCaptionGenerations: 2_000 },
}

/** The port of `npm run console`. */
export const CONSOLE_PORT = 5173
/** The usual addresses of frontends in development. They may call the API, whatever `FRONTEND_URL` is. */
const USUAL_FRONTENDS = ['http://localhost:3000', `http://localhost:${CONSOLE_PORT}`]
export const TEMPORAL_NAMESPACE = 'default'
export const BUCKET = 'postonce'
const DATABASE = 'postonce'

export interface ServiceAddresses {
  mongoUrl: string
  temporalAddress: string
  storageEndpoint: string
}

/** The public addresses for the chosen ports. */
export function publicAddresses(
  { ports }: Pick<Settings, 'ports'>,
  { mongoUrl, storageEndpoint }: Pick<ServiceAddresses, 'mongoUrl' | 'storageEndpoint'>,
) {
  const mongo = new URL(mongoUrl)
  mongo.pathname = `/${DATABASE}`
  return {
    api: `http://localhost:${ports.api}`,
    frontend: `http://localhost:${ports.frontend}`,
    mongo: mongo.href,
    storage: { endpoint: storageEndpoint, bucket: BUCKET, publicUrl: `${storageEndpoint}/${BUCKET}` },
  }
}

/**
 * The configuration of the service's processes: the code of production with other addresses and secrets. The sandbox's
 * own page may always call the API, even with another frontend.
 */
export function serviceEnvironment(
  settings: Pick<Settings, 'ports' | 'secrets'>,
  addresses: ServiceAddresses,
  platforms: Record<string, string>,
  { frontend = null, corsOrigins = [] }: Partial<Pick<Options, 'frontend' | 'corsOrigins'>> = {},
): NodeJS.ProcessEnv {
  const { ports, secrets } = settings
  const { api, frontend: ownPage, mongo, storage } = publicAddresses(settings, addresses)
  return {
    ...process.env,
    NODE_ENV: 'development',
    LOG_LEVEL: logLevel(process.env['LOG_LEVEL']),
    HOST: '127.0.0.1',
    PORT: String(ports.api),
    PUBLIC_URL: api,
    FRONTEND_URL: frontend ?? ownPage,
    CORS_ORIGINS: [...new Set([...USUAL_FRONTENDS, ownPage, ...corsOrigins])].join(),
    MONGODB_URL: mongo,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE,
    S3_ENDPOINT: storage.endpoint,
    S3_BUCKET: storage.bucket,
    S3_ACCESS_KEY_ID: secrets.s3AccessKeyId,
    S3_SECRET_ACCESS_KEY: secrets.s3SecretAccessKey,
    S3_PUBLIC_URL: storage.publicUrl,
    JWT_SECRET: secrets.jwt,
    REFRESH_TOKEN_SECRET: secrets.refreshToken,
    OAUTH_STATE_SECRET: secrets.oauthState,
    TOKEN_ENCRYPTION_KEYS: secrets.tokenEncryption,
    // Seeding and scripts connect accounts without a cookie jar.
    CONNECT_COOKIE: 'browsers',
    ...platforms,
    // Receivers of webhooks on this machine.
    ALLOWED_PRIVATE_SERVERS: [platforms['ALLOWED_PRIVATE_SERVERS'], 'http://localhost:*', 'http://127.0.0.1:*']
      .filter(Boolean)
      .join(),
    PLAN_FREE_MAX_POSTS: String(PLAN_LIMITS.free.maxPosts),
    PLAN_FREE_MAX_CAPTIONS: String(PLAN_LIMITS.free.maxCaptionGenerations),
    PLAN_FREE_MAX_ACCOUNTS: '50',
    PLAN_PRO_MAX_POSTS: String(PLAN_LIMITS.pro.maxPosts),
    PLAN_PRO_MAX_CAPTIONS: String(PLAN_LIMITS.pro.maxCaptionGenerations),
    PLAN_PRO_MAX_ACCOUNTS: '100',
    RATE_LIMIT_PER_ADDRESS: NO_LIMIT,
    RATE_LIMIT_PER_USER: NO_LIMIT,
    LOGIN_FAILURES_PER_ACCOUNT: NO_LIMIT,
    LOGIN_FAILURES_PER_ADDRESS: NO_LIMIT,
    LOGIN_FAILURES_BEFORE_DELAY: NO_LIMIT,
    OTP_PER_HOUR: NO_LIMIT,
    RESET_MAILS_PER_HOUR: NO_LIMIT,
    MAILS_PER_SENDER_PER_HOUR: NO_LIMIT,
    CAPTIONS_PER_HOUR: NO_LIMIT,
  }
}

/** Allows more logging but not less, because the sandbox reads the worker's readiness from its log. */
function logLevel(wanted: string | undefined): string {
  return wanted === 'debug' || wanted === 'trace' ? wanted : 'info'
}

/** Creates indexes, bucket and Schedules: `npm run setup`. */
export async function runSetup(
  env: NodeJS.ProcessEnv,
  { root = PROJECT_ROOT }: Pick<Place, 'root'> = {},
): Promise<void> {
  await run(process.execPath, ['src/cli/setup.ts'], { cwd: root, env })
}

/** Runs `npm run admin` and returns its output. */
export const runAdmin = (
  env: NodeJS.ProcessEnv,
  args: string[],
  { root = PROJECT_ROOT }: Pick<Place, 'root'> = {},
): Promise<string> => run(process.execPath, ['src/cli/admin.ts', ...args], { cwd: root, env })

interface Place {
  /** The folder that contains `src`. */
  root?: string
  /** The name of the log file without its extension. Required when several processes of a kind run. */
  name?: string
}

export function startApi(
  env: NodeJS.ProcessEnv,
  logs: string,
  signal?: AbortSignal,
  { root = PROJECT_ROOT, name = 'api' }: Place = {},
): Promise<Running> {
  return startProcess({
    title: 'The API',
    command: process.execPath,
    args: ['src/server.ts'],
    cwd: root,
    env,
    signal,
    logFile: join(logs, `${name}.log`),
    ready: async () =>
      (await fetch(`http://127.0.0.1:${env['PORT']}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
    stopWithinMs: 30_000,
  })
}

export function startWorker(
  env: NodeJS.ProcessEnv,
  logs: string,
  signal?: AbortSignal,
  { root = PROJECT_ROOT, name = 'worker' }: Place = {},
): Promise<Running> {
  const logFile = join(logs, `${name}.log`)
  const begin = existsSync(logFile) ? statSync(logFile).size : 0
  return startProcess({
    title: 'The worker',
    command: process.execPath,
    args: ['src/worker.ts'],
    cwd: root,
    env,
    signal,
    logFile,
    // The worker serves no port, so its last log line before it polls is the signal.
    ready: async () => readFileSync(logFile).subarray(begin).includes('"worker ready"'),
    stopWithinMs: 45_000,
  })
}
