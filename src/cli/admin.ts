import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { changeLimits, raiseLimits } from '../commands/billing/change-limits.ts'
import { listMisplaced } from '../commands/posts/list-misplaced.ts'
import { decideHeldPost, listHeld, markRestoredPosts } from '../commands/posts/restored-posts.ts'
import { rewrapSecrets } from '../commands/shared/sealed-secrets.ts'
import { changeActivity } from '../commands/users/change-activity.ts'
import { changeRole } from '../commands/users/change-role.ts'
import { createUser } from '../commands/users/create-user.ts'
import { readConfig } from '../config/schema.ts'
import { createContext, type Context } from '../context.ts'
import { CLI_ACTOR } from '../domain/users/audit.ts'
import type { User } from '../domain/users/user.ts'
import { isInstant, parseInstant } from '../domain/shared/timezones.ts'
import type { Database } from '../store/shared/database.ts'
import { findVersionError } from '../store/shared/schema-version.ts'
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
  npm run admin -- check
  npm run admin -- misplaced
  npm run admin -- rewrap
  npm run admin -- restored --dumped-at <when the backup began, as 2026-03-01T02:00:00Z>
  npm run admin -- held [publish|drop <post id> [<target>]]`

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

/** `npm run admin`: manages accounts, and posts after a restore. It is the only way to grant the admin role; the API cannot. */
await runProcess(async () => {
  const { values, positionals } = readArguments()
  const [command, ...rest] = positionals
  const [email] = rest
  const context = await createContext(readConfig(process.env))
  try {
    await assertSchema(context.database)
    if (command === 'create' && email) await create(context, email, values)
    else if (command === 'limits' && email) await setLimits(context, email, values)
    else if (command === 'raise-limits' && email) await raise(context, email)
    else if (isChange(command) && email) await change(context, command, email)
    else if (command === 'list') await list(context)
    else if (command === 'check') await check(context)
    else if (command === 'misplaced') await printMisplaced(context)
    else if (command === 'rewrap') await rewrap(context)
    else if (command === 'restored' && values['dumped-at'] !== undefined) await restored(context, values['dumped-at'])
    else if (command === 'held') await held(context, rest)
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
      options: {
        name: { type: 'string' },
        'password-stdin': { type: 'boolean', default: false },
        posts: { type: 'string' },
        captions: { type: 'string' },
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
  const { _id } = await findUser(context, email)
  const { apply, result } = CHANGES[command]
  await apply(context, _id)
  print(`${email} ${result}.`)
}

async function findUser({ users }: Context, email: string): Promise<User> {
  const user = await users.findByEmail(email)
  if (!user) throw new Error(`No account has the address ${email}. Run "npm run admin -- list" to see all accounts.`)
  return user
}

async function setLimits(
  context: Context,
  email: string,
  { posts, captions }: { posts?: string | undefined; captions?: string | undefined },
): Promise<void> {
  if (posts === undefined && captions === undefined) throw new Error(USAGE)
  const { _id, limits } = await findUser(context, email)
  const changed = await changeLimits(context, CLI_ACTOR, _id, {
    maxPosts: posts === undefined ? limits.maxPosts : parseCount(posts),
    maxCaptionGenerations: captions === undefined ? limits.maxCaptionGenerations : parseCount(captions),
  })
  const { maxPosts, maxCaptionGenerations } = changed.limits
  print(`${email} has ${maxPosts} posts and ${maxCaptionGenerations} caption generations.`)
}

/** Raises the limits of accounts that still have an earlier post limit. */
async function raise(context: Context, posts: string): Promise<void> {
  print(`Raised: ${await raiseLimits(context, CLI_ACTOR, parseCount(posts))}.`)
}

function parseCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new Error(`${value} is not a whole number from 0 to 999999999`)
  return Number(value)
}

async function list({ users }: Context): Promise<void> {
  const rows = [['EMAIL', 'NAME', 'ROLE', 'PLAN', 'POSTS', 'CREATED', 'LAST LOGIN']]
  for await (const user of users.all()) rows.push(toRow(user))
  printTable(rows)
}

/** Checks every part that an operator sets up, like `GET /api/admin/setup`. */
async function check({ reportSetup }: Context): Promise<void> {
  for (const { part, state, effect, problem, nextStep } of await reportSetup()) {
    print(`${state.padEnd(7)}  ${part}: ${effect}`)
    for (const line of [problem, nextStep]) if (line !== null) print(`         ${line}`)
  }
}

/** Lists the posts that were published on another account than the one they were created for. */
async function printMisplaced(context: Context): Promise<void> {
  const rows = [['EMAIL', 'POST', 'PLATFORM', 'CREATED FOR', 'PUBLISHED ON', 'URL']]
  for await (const post of listMisplaced(context)) {
    rows.push([post.email, post.postId, post.platform, post.createdFor, post.publishedOn, post.url])
  }
  printTable(rows)
}

/**
 * Seals every secret with the first key of TOKEN_ENCRYPTION_KEYS, and prints which keys secrets need afterwards.
 * @throws Error while a secret needs another key
 */
async function rewrap(context: Context): Promise<void> {
  const { cipher, sealedValues } = context
  const { moved, unreadable } = await rewrapSecrets(context)
  print(`Moved to the key ${cipher.sealingKeyId}: ${moved}. Unreadable: ${unreadable}.`)
  const counts = [...(await sealedValues.countByKey())]
  printTable([['KEY', 'SECRETS'], ...counts.map(([keyId, count]) => [keyId, String(count)])])
  if (counts.some(([keyId]) => keyId !== cipher.sealingKeyId)) {
    throw new Error('Secrets still need another key. Add the keys that are missing, and run the command again.')
  }
}

async function restored(context: Context, dumpedAt: string): Promise<void> {
  const instant = isInstant(dumpedAt) ? parseInstant(dumpedAt, 'UTC') : null
  if (instant === null || instant > context.clock.now()) {
    throw new Error(`${dumpedAt} is not a past time with a time zone, like 2026-03-01T02:00:00Z`)
  }
  const marked = await markRestoredPosts(context, instant)
  print(`Marked ${marked.posts} posts. What is due is searched for on its platform before it is sent.`)
  print(`Paused ${marked.imports} imports. Start the service next, then run "npm run admin -- held".`)
}

async function held(context: Context, args: string[]): Promise<void> {
  const [decision, postId, target] = args
  if (decision !== undefined) {
    if ((decision !== 'publish' && decision !== 'drop') || postId === undefined) throw new Error(USAGE)
    const decided = await decideHeldPost(context, postId, decision, target)
    if (decided === 0) throw new Error('No such delivery is held. Run "npm run admin -- held" to see all.')
    return print(`${decision === 'publish' ? 'Publishing' : 'Dropped'} ${decided} deliveries of ${postId}.`)
  }
  const rows = [['EMAIL', 'POST', 'TARGET', 'PLATFORM', 'ACCOUNT', 'DUE', 'STATE', 'REASON']]
  for await (const one of listHeld(context)) {
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
