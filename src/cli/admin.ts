import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { systemClock } from '../clock.ts'
import { changeLimits, raiseLimits } from '../commands/billing/change-limits.ts'
import { listMisplaced } from '../commands/posts/list-misplaced.ts'
import { rewrapSecrets } from '../commands/shared/sealed-secrets.ts'
import { changeActivity } from '../commands/users/change-activity.ts'
import { changeRole } from '../commands/users/change-role.ts'
import { createUser } from '../commands/users/create-user.ts'
import { readConfig, type Config } from '../config/schema.ts'
import { CLI_ACTOR } from '../domain/users/audit.ts'
import type { User } from '../domain/users/user.ts'
import { DAY } from '../domain/shared/times.ts'
import { createPasswordHasher } from '../security/password-hasher.ts'
import { createTokenCipher } from '../security/token-cipher.ts'
import { planLimits } from '../config/plans.ts'
import { createAuditLog } from '../store/users/audit.ts'
import { openDatabase, type Database } from '../store/shared/database.ts'
import { createSealedValues } from '../store/shared/sealed-values.ts'
import { findVersionError } from '../store/shared/schema-version.ts'
import { createEventStore } from '../store/events/events.ts'
import { createErasureStore } from '../store/users/erasures.ts'
import { createNotificationStore } from '../store/notifications/notifications.ts'
import { createPostStore } from '../store/posts/posts.ts'
import { createUserStore, type UserStore } from '../store/users/users.ts'
import { runProcess } from './run-process.ts'

const USAGE = `Usage:
  npm run admin -- create <email> [--name <name>] [--password-stdin]
  npm run admin -- grant <email>
  npm run admin -- revoke <email>
  npm run admin -- disable <email>
  npm run admin -- enable <email>
  npm run admin -- limits <email> [--posts <number>] [--captions <number>]
  npm run admin -- raise-limits <posts>
  npm run admin -- list
  npm run admin -- misplaced
  npm run admin -- rewrap`

type ChangeDeps = Parameters<typeof changeActivity>[0]

/** The commands that change an account. Each adds an entry to the audit log, like a change by an admin. */
const CHANGES = {
  grant: {
    apply: (deps: ChangeDeps, userId: string) => changeRole(deps, CLI_ACTOR, userId, 'admin'),
    result: 'is now an admin',
  },
  revoke: {
    apply: (deps: ChangeDeps, userId: string) => changeRole(deps, CLI_ACTOR, userId, 'user'),
    result: 'is no longer an admin',
  },
  disable: {
    apply: (deps: ChangeDeps, userId: string) => changeActivity(deps, CLI_ACTOR, userId, false),
    result: 'is disabled',
  },
  enable: {
    apply: (deps: ChangeDeps, userId: string) => changeActivity(deps, CLI_ACTOR, userId, true),
    result: 'is enabled',
  },
}

/** `npm run admin`: manages accounts. It is the only way to grant the admin role; the API cannot. */
await runProcess(async () => {
  const { values, positionals } = readArguments()
  const [command, email] = positionals
  const config = readConfig(process.env)
  const database = await openDatabase(config.MONGODB_URL)
  try {
    await assertSchema(database)
    const users = createUserStore(database.connection)
    if (command === 'create' && email) await create(users, config, email, values)
    else if (command === 'limits' && email) await setLimits(database, users, email, values)
    else if (command === 'raise-limits' && email) await raise(database, users, config, email)
    else if (isChange(command) && email) await change(database, users, command, email)
    else if (command === 'list') await list(users)
    else if (command === 'misplaced') await printMisplaced(database, users, config)
    else if (command === 'rewrap') await rewrap(database, config)
    else throw new Error(USAGE)
  } finally {
    await database.close()
  }
})

/** @throws Error before the first `npm run setup`, and for a database that another release wrote */
async function assertSchema({ readSchemaVersion }: Database): Promise<void> {
  const version = await readSchemaVersion()
  const error = version === null ? new Error('Run "npm run setup" first.') : findVersionError(version)
  if (error) throw error
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        'password-stdin': { type: 'boolean', default: false },
        posts: { type: 'string' },
        captions: { type: 'string' },
      },
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error })
  }
}

interface CreateOptions {
  name?: string | undefined
  'password-stdin': boolean
}

async function create(users: UserStore, config: Config, email: string, options: CreateOptions): Promise<void> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Error(`${email} is not an email address`)
  const given = options['password-stdin'] ? (await text(process.stdin)).replace(/\r?\n$/, '') : null
  const password = given ?? randomBytes(18).toString('base64url')
  const user = await createUser(
    { users, passwords: createPasswordHasher(), clock: systemClock },
    {
      email,
      password,
      name: options.name ?? email.split('@', 1)[0]!,
      limits: planLimits(config).free,
    },
  )
  print(`Created ${user.email} (${user._id}).`)
  if (given === null) print(`Password, shown only this once: ${password}`)
}

function isChange(command: string | undefined): command is keyof typeof CHANGES {
  return command !== undefined && Object.hasOwn(CHANGES, command)
}

async function change(
  database: Database,
  users: UserStore,
  command: keyof typeof CHANGES,
  email: string,
): Promise<void> {
  const { _id } = await findUser(users, email)
  const { apply, result } = CHANGES[command]
  await apply(createChangeDeps(database, users), _id)
  print(`${email} ${result}.`)
}

async function findUser(users: UserStore, email: string): Promise<User> {
  const user = await users.findByEmail(email)
  if (!user) throw new Error(`No account has the address ${email}. Run "npm run admin -- list" to see all accounts.`)
  return user
}

function createChangeDeps(database: Database, users: UserStore): ChangeDeps {
  const { connection } = database
  const now = () => systemClock.now()
  return {
    database,
    users,
    audit: createAuditLog(connection),
    erasures: createErasureStore(connection),
    notifications: createNotificationStore(connection, now),
    posts: createPostStore(connection, now),
    clock: systemClock,
  }
}

async function setLimits(
  database: Database,
  users: UserStore,
  email: string,
  { posts, captions }: { posts?: string | undefined; captions?: string | undefined },
): Promise<void> {
  if (posts === undefined && captions === undefined) throw new Error(USAGE)
  const { _id, limits } = await findUser(users, email)
  const { maxPosts, maxCaptionGenerations } = (
    await changeLimits(createChangeDeps(database, users), CLI_ACTOR, _id, {
      maxPosts: posts === undefined ? limits.maxPosts : parseCount(posts),
      maxCaptionGenerations: captions === undefined ? limits.maxCaptionGenerations : parseCount(captions),
    })
  ).limits
  print(`${email} has ${maxPosts} posts and ${maxCaptionGenerations} caption generations.`)
}

/** Raises the limits of accounts that still have an earlier post limit. */
async function raise(database: Database, users: UserStore, config: Config, posts: string): Promise<void> {
  const deps = { ...createChangeDeps(database, users), planLimits: planLimits(config) }
  print(`Raised: ${await raiseLimits(deps, CLI_ACTOR, parseCount(posts))}.`)
}

function parseCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new Error(`${value} is not a whole number from 0 to 999999999`)
  return Number(value)
}

async function list(users: UserStore): Promise<void> {
  const rows = [['EMAIL', 'NAME', 'ROLE', 'PLAN', 'POSTS', 'CREATED', 'LAST LOGIN']]
  for await (const user of users.all()) rows.push(toRow(user))
  printTable(rows)
}

/** Lists the posts that were published on another account than the one they were created for. */
async function printMisplaced({ connection }: Database, users: UserStore, config: Config): Promise<void> {
  const now = () => systemClock.now()
  const events = createEventStore(connection, now, { retentionMs: config.EVENT_RETENTION_DAYS * DAY })
  const rows = [['EMAIL', 'POST', 'PLATFORM', 'CREATED FOR', 'PUBLISHED ON', 'URL']]
  for await (const post of listMisplaced({ users, events, posts: createPostStore(connection, now) })) {
    rows.push([post.email, post.postId, post.platform, post.createdFor, post.publishedOn, post.url])
  }
  printTable(rows)
}

/**
 * Seals every secret with the first key of TOKEN_ENCRYPTION_KEYS, and prints which keys secrets need afterwards.
 * @throws Error while a secret needs another key
 */
async function rewrap({ connection }: Database, { TOKEN_ENCRYPTION_KEYS }: Config): Promise<void> {
  const sealedValues = createSealedValues(connection)
  const cipher = createTokenCipher(TOKEN_ENCRYPTION_KEYS)
  const { moved, unreadable } = await rewrapSecrets({ sealedValues, cipher })
  print(`Moved to the key ${cipher.sealingKeyId}: ${moved}. Unreadable: ${unreadable}.`)
  const counts = [...(await sealedValues.countByKey())]
  printTable([['KEY', 'SECRETS'], ...counts.map(([keyId, count]) => [keyId, String(count)])])
  if (counts.some(([keyId]) => keyId !== cipher.sealingKeyId)) {
    throw new Error('Secrets still need another key. Add the keys that are missing, and run the command again.')
  }
}

function printTable(rows: string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}

function toRow(user: User): string[] {
  return [
    user.email,
    user.name,
    user.isDisabled ? `${user.role} (disabled)` : user.role,
    user.subscription.plan,
    `${user.usage.postsCreated}/${user.limits.maxPosts}`,
    formatDay(user.createdAt),
    user.lastLogin ? formatDay(user.lastLogin) : 'never',
  ]
}

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
