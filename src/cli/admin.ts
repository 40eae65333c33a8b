import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { listMisplaced } from '../commands/posts/list-misplaced.ts'
import { changeActivity } from '../commands/users/change-activity.ts'
import { changeRole } from '../commands/users/change-role.ts'
import { createUser } from '../commands/users/create-user.ts'
import { readConfig } from '../config/schema.ts'
import { createContext, type Context } from '../context.ts'
import { CLI_ACTOR } from '../domain/users/audit.ts'
import type { User } from '../domain/users/user.ts'
import type { Database } from '../store/shared/database.ts'
import { findVersionError } from '../store/shared/schema-version.ts'
import { runProcess } from './run-process.ts'

const USAGE = `Usage:
  npm run admin -- create <email> [--name <name>] [--password-stdin]
  npm run admin -- grant <email>
  npm run admin -- revoke <email>
  npm run admin -- disable <email>
  npm run admin -- enable <email>
  npm run admin -- list
  npm run admin -- misplaced`

/** The commands that change an account. Each adds an entry to the audit log, like a change by an admin. */
const CHANGES = {
  grant: {
    apply: (context: Context, userId: string) => changeRole(context, CLI_ACTOR, userId, 'admin'),
    result: 'is now an admin',
  },
  revoke: {
    apply: (context: Context, userId: string) => changeRole(context, CLI_ACTOR, userId, 'user'),
    result: 'is no longer an admin',
  },
  disable: {
    apply: (context: Context, userId: string) => changeActivity(context, CLI_ACTOR, userId, false),
    result: 'is disabled',
  },
  enable: {
    apply: (context: Context, userId: string) => changeActivity(context, CLI_ACTOR, userId, true),
    result: 'is enabled',
  },
}

/** `npm run admin`: manages accounts. It is the only way to grant the admin role; the API cannot. */
await runProcess(async () => {
  const { values, positionals } = readArguments()
  const [command, email] = positionals
  const context = await createContext(readConfig(process.env))
  try {
    await assertSchema(context.database)
    if (command === 'create' && email) await create(context, email, values)
    else if (isChange(command) && email) await change(context, command, email)
    else if (command === 'list') await list(context)
    else if (command === 'misplaced') await printMisplaced(context)
    else throw new Error(USAGE)
  } finally {
    await context.close()
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
      options: { name: { type: 'string' }, 'password-stdin': { type: 'boolean', default: false } },
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error })
  }
}

interface CreateOptions {
  name?: string | undefined
  'password-stdin': boolean
}

async function create(context: Context, email: string, options: CreateOptions): Promise<void> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Error(`${email} is not an email address`)
  const given = options['password-stdin'] ? (await text(process.stdin)).replace(/\r?\n$/, '') : null
  const password = given ?? randomBytes(18).toString('base64url')
  const name = options.name ?? email.split('@', 1)[0]!
  const user = await createUser(context, { email, password, name, limits: context.planLimits.free })
  print(`Created ${user.email} (${user._id}).`)
  if (given === null) print(`Password, shown only this once: ${password}`)
}

function isChange(command: string | undefined): command is keyof typeof CHANGES {
  return command !== undefined && Object.hasOwn(CHANGES, command)
}

async function change(context: Context, command: keyof typeof CHANGES, email: string): Promise<void> {
  const user = await context.users.findByEmail(email)
  if (!user) throw new Error(`No account has the address ${email}. Run "npm run admin -- list" to see all accounts.`)
  const { apply, result } = CHANGES[command]
  await apply(context, user._id)
  print(`${email} ${result}.`)
}

async function list({ users }: Context): Promise<void> {
  const rows = [['EMAIL', 'NAME', 'ROLE', 'PLAN', 'POSTS', 'CREATED', 'LAST LOGIN']]
  for await (const user of users.all()) rows.push(toRow(user))
  printTable(rows)
}

/** Lists the posts that were published on another account than the one they were created for. */
async function printMisplaced(context: Context): Promise<void> {
  const rows = [['EMAIL', 'POST', 'PLATFORM', 'CREATED FOR', 'PUBLISHED ON', 'URL']]
  for await (const post of listMisplaced(context)) {
    rows.push([post.email, post.postId, post.platform, post.createdFor, post.publishedOn, post.url])
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
