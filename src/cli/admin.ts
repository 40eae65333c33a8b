import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { systemClock } from '../clock.ts'
import { listMisplaced } from '../commands/posts/list-misplaced.ts'
import { decideHeldPost, listHeld, markRestoredPosts } from '../commands/posts/restored-posts.ts'
import { changeActivity } from '../commands/users/change-activity.ts'
import { changeRole } from '../commands/users/change-role.ts'
import { createUser } from '../commands/users/create-user.ts'
import { readConfig, type Config } from '../config/schema.ts'
import { CLI_ACTOR } from '../domain/users/audit.ts'
import type { User } from '../domain/users/user.ts'
import { isInstant, parseInstant } from '../domain/shared/timezones.ts'
import { DAY } from '../domain/shared/times.ts'
import { createPasswordHasher } from '../security/password-hasher.ts'
import { planLimits } from '../config/plans.ts'
import { createAuditLog } from '../store/users/audit.ts'
import { openDatabase, type Database } from '../store/shared/database.ts'
import { findVersionError } from '../store/shared/schema-version.ts'
import { createEventStore } from '../store/events/events.ts'
import { createImportStore } from '../store/imports/imports.ts'
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
  npm run admin -- list
  npm run admin -- misplaced
  npm run admin -- restored --dumped-at <when the backup began, as 2026-03-01T02:00:00Z>
  npm run admin -- held [publish|drop <post id> [<target>]]`

const now = () => systemClock.now()

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

/** `npm run admin`: manages accounts, and posts after a restore. It is the only way to grant the admin role; the API cannot. */
await runProcess(async () => {
  const { values, positionals } = readArguments()
  const [command, ...rest] = positionals
  const [email] = rest
  const config = readConfig(process.env)
  const database = await openDatabase(config.MONGODB_URL)
  try {
    await assertSchema(database)
    const users = createUserStore(database.connection)
    if (command === 'create' && email) await create(users, config, email, values)
    else if (isChange(command) && email) await change(database, users, command, email)
    else if (command === 'list') await list(users)
    else if (command === 'misplaced') await printMisplaced(database, users, config)
    else if (command === 'restored' && values['dumped-at'] !== undefined) await restored(database, values['dumped-at'])
    else if (command === 'held') await held(database, users, rest)
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
        'dumped-at': { type: 'string' },
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
  const user = await users.findByEmail(email)
  if (!user) throw new Error(`No account has the address ${email}. Run "npm run admin -- list" to see all accounts.`)
  const { connection } = database
  const deps = {
    database,
    users,
    audit: createAuditLog(connection),
    erasures: createErasureStore(connection),
    notifications: createNotificationStore(connection, now),
    posts: createPostStore(connection, now),
    clock: systemClock,
  }
  const { apply, result } = CHANGES[command]
  await apply(deps, user._id)
  print(`${email} ${result}.`)
}

async function list(users: UserStore): Promise<void> {
  const rows = [['EMAIL', 'NAME', 'ROLE', 'PLAN', 'POSTS', 'CREATED', 'LAST LOGIN']]
  for await (const user of users.all()) rows.push(toRow(user))
  printTable(rows)
}

/** Lists the posts that were published on another account than the one they were created for. */
async function printMisplaced({ connection }: Database, users: UserStore, config: Config): Promise<void> {
  const events = createEventStore(connection, now, { retentionMs: config.EVENT_RETENTION_DAYS * DAY })
  const rows = [['EMAIL', 'POST', 'PLATFORM', 'CREATED FOR', 'PUBLISHED ON', 'URL']]
  for await (const post of listMisplaced({ users, events, posts: createPostStore(connection, now) })) {
    rows.push([post.email, post.postId, post.platform, post.createdFor, post.publishedOn, post.url])
  }
  printTable(rows)
}

async function restored({ connection }: Database, dumpedAt: string): Promise<void> {
  const instant = isInstant(dumpedAt) ? parseInstant(dumpedAt, 'UTC') : null
  if (instant === null || instant > systemClock.now()) {
    throw new Error(`${dumpedAt} is not a past time with a time zone, like 2026-03-01T02:00:00Z`)
  }
  const stores = { posts: createPostStore(connection, now), imports: createImportStore(connection), clock: systemClock }
  const marked = await markRestoredPosts(stores, instant)
  print(`Marked ${marked.posts} posts. What is due is searched for on its platform before it is sent.`)
  print(`Paused ${marked.imports} imports. Start the service next, then run "npm run admin -- held".`)
}

async function held({ connection }: Database, users: UserStore, args: string[]): Promise<void> {
  const posts = createPostStore(connection, now)
  const [decision, postId, target] = args
  if (decision !== undefined) {
    if ((decision !== 'publish' && decision !== 'drop') || postId === undefined) throw new Error(USAGE)
    const decided = await decideHeldPost({ posts }, postId, decision, target)
    if (decided === 0) throw new Error('No such delivery is held. Run "npm run admin -- held" to see all.')
    return print(`${decision === 'publish' ? 'Publishing' : 'Dropped'} ${decided} deliveries of ${postId}.`)
  }
  const rows = [['EMAIL', 'POST', 'TARGET', 'PLATFORM', 'ACCOUNT', 'DUE', 'STATE', 'REASON']]
  for await (const one of listHeld({ posts, users, clock: systemClock })) {
    const { email, target: id, platform, accountName, dueAt, state, reason } = one
    rows.push([email, one.postId, id, platform, accountName, dueAt.toISOString(), state, reason])
  }
  printTable(rows)
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
