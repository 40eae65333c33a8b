import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { createApiClient, type PostOutcome } from '../../sandbox/api-client.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import type { World } from '../../sandbox/world.ts'
import { isAlive, leashed, run, tail } from '../../scripts/provision.mjs'
import { systemClock } from '../../src/clock.ts'
import { PLATFORMS } from '../../src/domain/shared/platforms.ts'

const PROJECT_ROOT = resolve(import.meta.dirname, '../..')
const POLL_MS = 100
/** Long enough for everything to have stopped before it is due. */
const SCHEDULED_AHEAD_MS = 20_000
const DELIVERED_WITHIN_MS = 90_000

const home = mkdtempSync(join(tmpdir(), 'postonce-stranger-'))
const clone = join(home, 'postonce')
const dir = join(home, 'world')
const log = join(home, 'output.log')
const started: ChildProcess[] = []

afterAll(async () => {
  for (const child of started) await stop(child)
  rmSync(home, { recursive: true, force: true })
})

test('a new user clones, starts, sees the first post and stops, and the next start delivers what fell due meanwhile', async () => {
  await run('git', ['clone', '--quiet', PROJECT_ROOT, clone])
  const port = await freePort()

  const first = await start(port)
  expect(first.world).toEqual(worldOn(port))
  const hello = (await publicPosts(first.world)).find(({ text }) => text.includes('Hello from postonce'))
  await expectPrintedCommands(first.world)
  expect(await (await fetch(await linkTo(first.world, hello!))).text()).toContain(hello!.text)
  const accounts = await accountsOf(first.world)
  expect(accounts).toHaveLength(PLATFORMS.length + 2)
  expect(accounts.filter(({ isDefault }) => isDefault)).toHaveLength(PLATFORMS.length)
  expect(accounts.filter(({ isDefault }) => !isDefault)).toMatchObject([
    { platform: 'bluesky', label: 'Tea club' },
    { platform: 'mastodon', label: 'Tea club', server: first.world.secondMastodon.url },
  ])
  const shownOnSecond = (await (await fetch(`${first.world.secondMastodon.control}/ledger`)).json()) as object[]
  expect(shownOnSecond).toMatchObject([{ text: expect.stringContaining('Hello from the tea club') }])

  // A killed process restarts, and `world.json` has its new id.
  process.kill(first.world.processes.worker, 'SIGKILL')
  const healed = await until(readWorld, ({ processes }) => processes.worker !== first.world.processes.worker)
  expect(healed).toEqual({ ...first.world, processes: { ...first.world.processes, worker: expect.any(Number) } })

  const text = `Due while the service was down ${Date.now()}`
  const dueAt = new Date(Date.now() + SCHEDULED_AHEAD_MS)
  const { postId, status } = await schedule(first.world, text, dueAt)
  expect(status).toBe('SCHEDULED')

  // As a script does: only npm gets the signal and passes it on.
  first.child.kill('SIGINT')
  expect(await exitOf(first.child)).toBe(0)
  expect(existsSync(join(dir, 'world.json'))).toBe(false)
  expect(await survivors(healed)).toEqual([])

  await systemClock.sleepUntil(new Date(dueAt.getTime() + 1_000))
  const secondStartAt = new Date()
  const second = await start(port)
  const readyAfterMs = Date.now() - secondStartAt.getTime()
  console.log(`The second start was ready after ${(readyAfterMs / 1000).toFixed(1)} s`)

  const api = createApiClient(second.world.api)
  expect(await accountsOf(second.world)).toEqual(accounts)
  const outcome = await api.outcomeOf(postId, await api.logIn(userOf(second.world)), DELIVERED_WITHIN_MS)
  expect(outcome.status).toBe('COMPLETED')
  const delivered = (await publicPosts(second.world)).filter((post) => post.text === text)
  expect(delivered).toHaveLength(1)
  // A record states when its post was due.
  expect(delivered[0]?.createdAt).toBe(dueAt.toISOString())
  expect(Date.parse(outcome.platformStatuses[0]!.completedAt!)).toBeGreaterThanOrEqual(secondStartAt.getTime())
  const ledger = (await (await fetch(`${second.world.platforms.bluesky.control}/ledger`)).json()) as { text: string }[]
  expect(ledger.filter((entry) => entry.text === text)).toHaveLength(1)
  expect(ledger.filter((entry) => entry.text === hello?.text)).toHaveLength(1)

  // As a terminal does: Ctrl-C reaches the whole foreground group.
  process.kill(-(second.child.pid ?? 0), 'SIGINT')
  expect(await exitOf(second.child)).toBe(0)
  expect(await survivors(second.world)).toEqual([])
})

/** Runs `npm run dev` in the clone without this test's environment. Returns when `world.json` exists. */
async function start(port: number): Promise<{ child: ChildProcess; world: World }> {
  const output = openSync(log, 'w')
  const child = spawn(...leashed('npm', ['run', 'dev', '--', '--dir', dir, '--port', String(port)]), {
    cwd: clone,
    detached: true,
    stdio: ['ignore', output, output],
    env: strangerEnv(),
  })
  started.push(child)
  const file = join(dir, 'world.json')
  while (!existsSync(file)) {
    if (hasEnded(child)) throw new Error(`npm run dev ended:\n${tail(readFileSync(log, 'utf8'), 40)}`)
    await delay(POLL_MS)
  }
  return { child, world: readWorld() }
}

/** The environment without what the test adds. */
function strangerEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(?!config)|NODE_ENV$|NODE_OPTIONS$|VITEST|TEST$|LOG_LEVEL$|INIT_CWD$)/i.test(name),
    ),
  )
}

function readWorld(): World {
  return JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World
}

async function until<T>(read: () => T, isExpected: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = read()
    if (isExpected(value)) return value
    await delay(POLL_MS)
  }
}

/** The exact format of `world.json`, because external scripts use it. */
function worldOn(port: number): unknown {
  const text = expect.any(String) as string
  const pid = expect.any(Number) as number
  const url = expect.stringMatching(/^http:\/\/[\w.]+:\d+/) as string
  return {
    api: `http://localhost:${port}`,
    frontend: url,
    temporal: { address: expect.stringMatching(/^[\w.]+:\d+$/), ui: url, namespace: 'default' },
    mongo: expect.stringMatching(/^mongodb:\/\//),
    storage: { endpoint: url, bucket: text, publicUrl: url },
    processes: { api: pid, worker: pid, mongod: pid, temporal: pid, storage: pid },
    users: [
      { email: text, password: text, role: 'user' },
      { email: text, password: text, role: 'admin' },
    ],
    apiKey: expect.stringMatching(/^po_live_/) as string,
    platforms: {
      ...Object.fromEntries(PLATFORMS.map((platform) => [platform, { url, control: url }])),
      bluesky: { url, control: url, identifier: text, appPassword: text },
    },
    secondMastodon: { url, control: url },
    mail: { url, control: url },
    push: { url, control: url },
    identity: { url, control: url },
    payments: { url, control: url, webhookSecret: text },
  }
}

/** Runs the lines of the command line as they are printed. */
async function expectPrintedCommands(world: World): Promise<void> {
  // `world.json` is written before the summary is printed.
  const printed = await until(
    () => readFileSync(log, 'utf8'),
    (text) => text.includes('List the public posts'),
  )
  expect(printed).toContain('TOKEN is valid for ten minutes')
  const lines = printed.split('\n').map((line) => line.trim())
  const commands = lines.filter((line) => /^(?:export POSTONCE_URL=|node_modules\/\.bin\/postonce )/.test(line))
  expect(commands).toHaveLength(4)
  const output = await run('bash', ['-euc', commands.join('\n')], { cwd: clone, env: strangerEnv() })
  expect(output).toMatch(/status +COMPLETED/)
  expect(output).toMatch(/status +SCHEDULED/)
  expect(output).toMatch(/COMPLETED .* Written in a shell$/m)
  const published = (await publicPosts(world)).filter(({ text }) => text === 'Written in a shell')
  expect(published).toHaveLength(1)
}

interface PublicPost {
  id: string
  text: string
  createdAt: string
}

/** The account's public posts on the Bluesky server, newest first. */
async function publicPosts({ platforms: { bluesky } }: World): Promise<PublicPost[]> {
  const ask = async (path: string) => (await fetch(`${bluesky.url}/xrpc/${path}`)).json()
  const { did } = (await ask(`com.atproto.identity.resolveHandle?handle=${bluesky.identifier}`)) as { did: string }
  const { records } = (await ask(`com.atproto.repo.listRecords?repo=${did}&collection=app.bsky.feed.post`)) as {
    records: { uri: string; value: { text: string; createdAt: string } }[]
  }
  return records.map(({ uri, value }) => ({ id: uri, text: value.text, createdAt: value.createdAt }))
}

/** Returns the link to the post on Bluesky that the service shows. */
async function linkTo(world: World, { id }: PublicPost): Promise<string> {
  const api = createApiClient(world.api)
  const token = await api.logIn(userOf(world))
  const { posts } = await api.call<{ posts: PostOutcome[] }>('GET', '/api/posts', { token })
  const entries = posts.flatMap(({ platformStatuses }) => platformStatuses)
  return entries.find(({ platformPostId }) => platformPostId === id)!.platformPostUrl!
}

async function schedule(world: World, text: string, dueAt: Date): Promise<{ postId: string; status: string }> {
  const api = createApiClient(world.api)
  return api.call('POST', '/api/posts', {
    token: await api.logIn(userOf(world)),
    body: { content: { text }, selectedPlatforms: ['bluesky'], scheduledAt: dueAt.toISOString() },
  })
}

interface ListedAccount {
  platform: string
  server: string | null
  isDefault: boolean
  label: string | null
}

/** The user's accounts, without their health, which other calls change. */
async function accountsOf(world: World): Promise<ListedAccount[]> {
  const api = createApiClient(world.api)
  const token = await api.logIn(userOf(world))
  const accounts = await api.call<(ListedAccount & { health: object })[]>('GET', '/api/platform/accounts', { token })
  return accounts.map(({ health: _, ...account }) => account)
}

function userOf({ users }: World): World['users'][number] {
  const user = users.find(({ role }) => role === 'user')
  if (user === undefined) throw new Error('The world has no user')
  return user
}

/** The processes that still run for a world: by id, and by the clone or its data on their command line. */
async function survivors({ processes }: World): Promise<string[]> {
  const byNumber = Object.entries(processes).filter(([, pid]) => isAlive(pid))
  const listed = await run('ps', ['-eo', 'pid=,args='])
  const byName = listed.split('\n').filter((line) => line.includes(home) && !line.includes('ps -eo'))
  return [...byNumber.map(([name, pid]) => `${name} ${pid}`), ...byName]
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (!hasEnded(child)) await once(child, 'exit')
  return child.exitCode
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  process.kill(-(child.pid ?? 0), 'SIGTERM')
  await exitOf(child)
}
