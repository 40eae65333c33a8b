import { randomBytes } from 'node:crypto'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { inject } from 'vitest'
import type {} from './global-setup.ts'
import { openDatabase } from '../../src/store/shared/database.ts'
import { readConfig, type Config } from '../../src/config/schema.ts'
import { createContext, type Context } from '../../src/context.ts'
import { createShardCheck, type ShardCheck } from './shard-rules.ts'

const RETENTION_MS = 86_400_000

/** Returns a name that no other call returns. Its characters are allowed in names of databases, buckets, namespaces and accounts. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`
}

/**
 * Returns a configuration on the servers of the test run, with a database, a bucket and a Temporal namespace of its own.
 * The namespace and the bucket exist after `testContext`, or after `registerNamespace` and `storage.ensureBucket`.
 */
export function testConfig(overrides: Partial<Config> = {}): Config {
  const { mongoUrl, temporalAddress, s3, bluesky } = inject('servers')
  const name = unique('test')
  const defaults = {
    NODE_ENV: 'test',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    HOST: '127.0.0.1',
    PORT: '0',
    MONGODB_URL: withDatabase(mongoUrl, name),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: name,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: name,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_PUBLIC_URL: `${s3.endpoint}/${name}`,
    JWT_SECRET: randomBytes(32).toString('base64'),
    REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64'),
    OAUTH_STATE_SECRET: randomBytes(32).toString('base64'),
    TOKEN_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CONNECT_COOKIE: 'browsers',
    BLUESKY_ENTRY_URL: bluesky.url,
    BLUESKY_VIDEO_URL: bluesky.url,
    BLUESKY_DIRECTORY_URL: bluesky.directoryUrl,
    // The default is ten minutes, too long for a test.
    UNANSWERED_CALL_SETTLE_MS: '30000',
  }
  return Object.freeze({ ...readConfig(defaults), ...overrides })
}

/** `onCommand` and `shards` receive each command that the context sends to its database. */
type ContextParts = Parameters<typeof createContext>[1] &
  Pick<NonNullable<Parameters<typeof openDatabase>[1]>, 'onCommand'> & { shards?: ShardCheck }

/**
 * Creates a context for the caller alone, with indexes, bucket and namespace. Close it in `afterAll`: that fails when the service sent a
 * command that does not fit shards. `database.connection` is for the test's own queries, which are not checked.
 */
export async function testContext(
  overrides: Partial<Config> = {},
  { onCommand, shards = createShardCheck(), ...parts }: ContextParts = {},
): Promise<Context> {
  const config = testConfig(overrides)
  await registerNamespace(config)
  if (parts.database) return prepare(await createContext(config, parts), config)

  const database = await openDatabase(config.MONGODB_URL, {
    onCommand(event) {
      shards.onCommand(event)
      onCommand?.(event)
    },
  })
  const context = await prepare(await createContext(config, { database, ...parts }), config)
  const { connection, close } = await openDatabase(config.MONGODB_URL)
  return {
    ...context,
    database: { ...context.database, connection },
    async close() {
      await Promise.all([context.close(), close()])
      shards.assertNone()
    },
  }
}

async function prepare(context: Context, config: Config): Promise<Context> {
  await Promise.all([context.database.createSchema(), context.storage.ensureBucket([config.FRONTEND_URL])])
  return context
}

/** Registers the Temporal namespace of a configuration, which can be used immediately. */
export async function registerNamespace(config: Config): Promise<void> {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  try {
    await connection.workflowService.registerNamespace({
      namespace: config.TEMPORAL_NAMESPACE,
      workflowExecutionRetentionPeriod: msToTs(RETENTION_MS),
    })
  } finally {
    await connection.close()
  }
}

function withDatabase(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
