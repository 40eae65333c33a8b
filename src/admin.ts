import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { systemClock } from './clock.ts'
import { createUser } from './commands/create-user.ts'
import { readConfig, type Config } from './config.ts'
import type { User } from './domain/user.ts'
import { createPasswordHasher } from './integrations/password-hasher.ts'
import { planLimits } from './plan-limits.ts'
import { openDatabase } from './store/database.ts'
import { createUserStore, type UserStore } from './store/users.ts'
import { exitOnBadStart } from './start.ts'

const USAGE = `Usage:
  npm run admin -- create <email> [--name <name>] [--password-stdin]
  npm run admin -- grant <email>
  npm run admin -- list`

/** `npm run admin`: accounts by hand. Only this makes admins; there is no way to it through the API (spec section 5). */
await exitOnBadStart(async () => {
  const { values, positionals } = readArguments()
  const [command, email] = positionals
  const config = readConfig(process.env)
  const database = await openDatabase(config.MONGODB_URL)
  try {
    const users = createUserStore(database.connection)
    if (command === 'create' && email) await create(users, config, email, values)
    else if (command === 'grant' && email) await grant(users, email)
    else if (command === 'list') await list(users)
    else throw new Error(USAGE)
  } finally {
    await database.close()
  }
})

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
  say(`Created ${user.email} (${user._id}).`)
  if (given === null) say(`Password, shown only this once: ${password}`)
}

async function grant(users: UserStore, email: string): Promise<void> {
  if (!(await users.setRole(email, 'admin'))) throw new Error(`No account has the address ${email}`)
  say(`${email} is an admin now.`)
}

async function list(users: UserStore): Promise<void> {
  const rows = [['EMAIL', 'NAME', 'ROLE', 'PLAN', 'POSTS', 'CREATED', 'LAST LOGIN'], ...(await users.list()).map(rowOf)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows)
    say(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}

function rowOf(user: User): string[] {
  return [
    user.email,
    user.name,
    user.isDisabled ? `${user.role} (disabled)` : user.role,
    user.subscription.plan,
    `${user.usage.postsCreated}/${user.limits.maxPosts}`,
    day(user.createdAt),
    user.lastLogin ? day(user.lastLogin) : 'never',
  ]
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
