import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createClient, logIn, verifyWebhook, type components } from '../../../packages/sdk/src/index.ts'
import { runPostonce, startPostonce, type RunOptions } from '../../support/command-line.ts'
import { readCommands, readExamples, runCommands } from '../../support/documented-commands.ts'
import { ALL_QUEUES, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { listenBehindFaults, type FaultyAddress } from '../../support/listening.ts'
import { installPacked } from '../../support/packed.ts'
import { unique } from '../../support/servers.ts'
import { startReceiver, type Receiver } from '../../support/webhook-receiver.ts'

/** The first test run after a change builds, packs and installs the package. */
const INSTALL_TIMEOUT_MS = 300_000

type User = Awaited<ReturnType<DeliveryWorld['user']>>

let receiver: Receiver
let world: DeliveryWorld
let api: FaultyAddress
let owner: User
let env: Record<string, string>
let program: string
const folder = mkdtempSync(join(tmpdir(), 'postonce-cli-'))
/** A project of a user of the package. */
const project = join(folder, 'project')

beforeAll(async () => {
  const modules = join(await installPacked('cli'), 'node_modules')
  program = realpathSync(join(modules, '.bin', 'postonce'))
  mkdirSync(project)
  symlinkSync(modules, join(project, 'node_modules'))
  receiver = await startReceiver()
  world = await startDeliveryWorld({ ALLOWED_PRIVATE_SERVERS: receiver.origin, ...ALL_QUEUES })
  api = await listenBehindFaults(world.app)
  owner = await world.user()
  env = {
    POSTONCE_URL: api.url,
    POSTONCE_API_KEY: await createKey(owner, [
      'posts:publish',
      'accounts:read',
      'analytics:read',
      'events:read',
      'webhooks:write',
    ]),
    TZ: 'Europe/Berlin',
  }
}, INSTALL_TIMEOUT_MS)
beforeEach(() => api.control.clearFaults())
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await api?.stop()
  await world?.stop()
  await receiver?.stop()
})

async function createKey(user: User, scopes: components['schemas']['ApiKeyScope'][]): Promise<string> {
  const session = await logIn({ url: api.url, ...user.secrets })
  const { key } = await createClient({ url: api.url, session }).request('POST', '/api/keys', {
    body: { name: 'Command line', scopes },
  })
  return key
}

const picture = () =>
  sharp({ create: { width: 80, height: 60, channels: 3, background: '#248' } })
    .png()
    .toBuffer()

const run = (args: string[], options: RunOptions = {}) =>
  runPostonce(args, { ...options, env: { ...env, ...options.env } }, program)

/** Runs a command with `--json`, which has to succeed. */
async function runJson<T>(args: string[], options: RunOptions = {}): Promise<T> {
  const { code, stdout, stderr } = await run([...args, '--json'], options)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

test('post --wait uploads a picture, publishes and shows the public address', async () => {
  const file = join(folder, 'picture.png')
  writeFileSync(file, await picture())
  const text = unique('cli')
  const args = ['post', text, '--to', 'bluesky', '--media', file, '--alt', 'Blue', '--wait']
  const { code, stdout, stderr } = await run(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^post +[0-9a-f]{24}\nstatus +COMPLETED\n/)
  expect(stdout).toMatch(/^bluesky +\S+ +completed +https?:/m)
  expect((await owner.published()).filter((entry) => entry.text === text)).toMatchObject([
    { media: [{ altText: 'Blue' }] },
  ])
})

test('a post that is not published anywhere ends post --wait with exit code 6', async () => {
  await world.control.fault({
    path: 'putRecord',
    action: { status: 400, body: { error: 'InvalidRequest', message: 'No' } },
  })
  try {
    const { code, stdout } = await run(['post', unique('refused'), '--to', 'bluesky', '--wait'])
    expect(code).toBe(6)
    expect(stdout).toContain('FAILED')
  } finally {
    await world.control.clearFaults()
  }
})

test('a post with --hold waits, and is cancelled meanwhile', async () => {
  const text = unique('held')
  const held = await run(['post', text, '--to', 'bluesky', '--hold', '120'])
  const [, postId] = /^post +([0-9a-f]{24})\nstatus +PENDING\ndue +\d/.exec(held.stdout) ?? []
  expect((await run(['show', postId!])).stdout).toMatch(/^due +\d/m)
  expect((await run(['cancel', postId!])).stdout).toMatch(/^status +CANCELLED$/m)
  expect((await owner.published()).filter((entry) => entry.text === text)).toEqual([])
  const refused = await run(['post', text, '--to', 'bluesky', '--hold', '121'])
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('holdSeconds') })
})

test('a scheduled post is listed, shown and cancelled', async () => {
  const text = unique('scheduled')
  const { postId, ...created } = await runJson<{ postId: string; status: string; scheduledAt: string }>(
    ['schedule', '-', '--to', 'bluesky', '--at', '2090-05-01T09:30'],
    { input: `${text}\u001b[31m\nsecond line\n` },
  )
  // 09:30 in Berlin.
  expect(created).toMatchObject({ status: 'SCHEDULED', scheduledAt: '2090-05-01T07:30:00.000Z' })

  const list = await run(['list', '--search', text, '--status', 'DRAFT,SCHEDULED'])
  expect(list.stdout).toMatch(/^POST +STATUS +TIME +PLATFORMS +TEXT\n/)
  expect(list.stdout).toContain(`${postId}  SCHEDULED  2090-05-01 09:30  bluesky    ${text} [31m`)
  expect((await runJson<{ content: { text: string } }>(['show', postId])).content.text).toContain('second line')
  expect((await run(['show', postId])).stdout).toContain('bluesky')
  expect((await run(['cancel', postId])).stdout).toContain('CANCELLED')
  expect(await runJson<object[]>(['list', '--search', text])).toMatchObject([{ _id: postId, status: 'CANCELLED' }])
})

test('the posts of each day are counted by status and client', async () => {
  const text = unique('counted')
  // The second one is on the next day in Berlin.
  for (const time of ['2090-08-01T12:00:00Z', '2090-08-01T22:30:00Z'])
    await runJson(['schedule', text, '--to', 'bluesky', '--at', time])
  const range = ['count', '--from', '2090-08-01', '--to', '2090-08-03', '--search', text]
  expect((await run([...range, '--client', 'cli', '--source', 'api'])).stdout).toBe(
    'DAY         POSTS  STATUSES\n2090-08-01  1      SCHEDULED 1\n2090-08-02  1      SCHEDULED 1\n',
  )
  expect((await run([...range, '--client', 'mcp,sdk'])).stdout).toBe('No posts.\n')
  expect(await run(['count', '--from', '2090-08-01'])).toMatchObject({ code: 2, stdout: '' })
})

test('a command with one idempotency key creates one post, also when a response is lost', async () => {
  await api.control.fault({ method: 'POST', path: '/api/posts', times: 1, action: { dropAfterAccept: true } })
  const args = ['post', unique('once'), '--to', 'bluesky', '--draft', '--idempotency-key', unique('key')]
  expect(await runJson(args)).toEqual(await runJson(args))
})

test('login stores a key that only the user can read, for its service only', async () => {
  const home = { POSTONCE_CONFIG_DIR: join(folder, 'key'), POSTONCE_API_KEY: '', POSTONCE_URL: '' }
  const login = await run(['login', '--url', api.url], { env: home, input: `${env['POSTONCE_API_KEY']}\n` })
  const file = join(folder, 'key', 'credentials.json')
  expect(login).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining(file) })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'key')).mode & 0o777).toBe(0o700)
  expect((await run(['list'], { env: home })).code).toBe(0)

  const elsewhere = await run(['list', '--url', 'http://127.0.0.1:9'], { env: home })
  expect(elsewhere).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('You are not logged in to http://127.0.0.1:9'),
  })
  expect((await run(['logout'], { env: home })).code).toBe(0)
  expect((await run(['list', '--url', api.url], { env: home })).code).toBe(3)
})

test('login refuses a wrong key and accepts a key without the scope accounts:read', async () => {
  const home = { POSTONCE_CONFIG_DIR: join(folder, 'scope'), POSTONCE_API_KEY: '' }
  const wrong = await run(['login'], { env: home, input: 'po_live_wrong' })
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('UNAUTHORIZED') })
  expect((await run(['login'], { env: home, input: await createKey(owner, ['analytics:read']) })).code).toBe(0)
  expect((await run(['analytics'], { env: home })).stdout).toMatch(/^posts +\d+\nengagement /)
  const today = new Date().toISOString().slice(0, 10)
  const csv = await run(['analytics', '--from', today, '--csv', 'heatmap'], { env: home })
  expect(csv.stdout).toMatch(/^\uFEFF?"day","hour","value","postCount","rank"\n0,0,0,0,\n/)
  const list = await run(['list'], { env: home })
  expect(list).toMatchObject({ code: 3, stderr: expect.stringContaining('lacks the scope posts:read') })
})

test('login with a password stores a session, and its refreshed tokens', async () => {
  const home = { POSTONCE_CONFIG_DIR: join(folder, 'session'), POSTONCE_API_KEY: '' }
  const { email, password } = owner.secrets
  expect((await run(['login', '--email', email], { env: home, input: `${password}\n` })).code).toBe(0)
  const file = join(folder, 'session', 'credentials.json')
  const stored = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...stored, session: { ...stored.session, accessToken: 'ended' } }))
  const accounts = await run(['accounts'], { env: home })
  expect(accounts.stdout).toMatch(/bluesky \*/)
  expect(JSON.parse(readFileSync(file, 'utf8')).session.accessToken).not.toBe('ended')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await run(['logout'], { env: home })).code).toBe(0)
})

test.each([
  [2, 'an unknown command', ['lst'], 'Did you mean list?'],
  [2, 'a post without a platform', ['post', 'x'], '--to'],
  [2, 'an unknown platform', ['post', 'x', '--to', 'bluesky,myspace'], 'myspace'],
  [2, 'a time in the past', ['schedule', 'x', '--to', 'bluesky', '--at', '2020-01-01T00:00Z'], 'in the past'],
  [2, 'an address without a scheme', ['list', '--url', 'localhost:4000'], '"localhost:4000" is not an address'],
  [2, 'a file of an unknown type', ['post', 'x', '--to', 'bluesky', '--media', 'a.txt'], 'unknown type'],
  [2, 'an import of a missing file', ['import', 'missing.csv'], 'missing.csv cannot be read'],
  [4, 'a post that does not exist', ['show', '0'.repeat(24)], 'NOT_FOUND'],
  [4, 'a text that is too long', ['post', 'x'.repeat(301), '--to', 'bluesky'], '300'],
])('the exit code is %i for %s', async (code, _title, args, message) => {
  const ended = await run(args)
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../packages/cli/package.json', import.meta.url), 'utf8'))
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('a post is duplicated, its draft is scheduled by publish, and both are deleted', async () => {
  const text = unique('again')
  const { postId } = await runJson<{ postId: string }>(['post', text, '--to', 'bluesky', '--draft'])
  const copy = await runJson<{ postId: string; status: string }>(['duplicate', postId])
  expect(copy).toMatchObject({ status: 'DRAFT' })
  expect(copy.postId).not.toBe(postId)
  const past = await run(['publish', copy.postId, '--at', '2020-01-01T00:00Z'])
  expect(past).toMatchObject({ code: 2, stderr: expect.stringContaining('in the past') })
  expect((await run(['publish', copy.postId, '--at', '+2h'])).stdout).toMatch(
    /^post +\S+\nstatus +SCHEDULED\nscheduled +\d/,
  )
  for (const id of [postId, copy.postId]) {
    expect((await run(['delete', id])).stdout).toMatch(/^post +\S+\nstatus +deleted\n$/)
    expect(await run(['show', id])).toMatchObject({ code: 4, stderr: expect.stringContaining('NOT_FOUND') })
  }
})

test('a file that is missing is named before any other is uploaded', async () => {
  const file = join(folder, 'first.png')
  writeFileSync(file, await picture())
  const countUploads = async () =>
    (await api.control.requests()).filter(({ path }) => path === '/api/posts/media/upload').length
  const before = await countUploads()
  const args = ['post', 'x', '--to', 'bluesky', '--media', file, '--media', 'missing.png']
  expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: 'Error: missing.png cannot be read.\n' })
  expect(await countUploads()).toBe(before)
})

/** Returns a new user with two accounts on Bluesky, connected by the command line, and commands with an API key of this user. */
async function brandOwner() {
  const user = await world.user()
  const second = await world.bluesky.createAccount({ handle: `${unique('b').replace('-', '')}.test` })
  const own = { POSTONCE_API_KEY: await createKey(user, ['posts:publish', 'accounts:write', 'analytics:read']) }
  const runOwn = (args: string[], options: RunOptions = {}) => run(args, { ...options, env: own })
  const readOwn = <T>(args: string[]) => runJson<T>(args, { env: own })
  const connected = await runOwn(['accounts', 'connect', 'bluesky', second.handle], { input: second.appPassword })
  expect(connected).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^account +[\da-f]{24}\n/) })
  const ids = Object.fromEntries(
    (await readOwn<Account[]>(['accounts'])).map(({ _id, profile }) => [profile.handle, _id]),
  )
  return { user, run: runOwn, read: readOwn, first: user.account.handle, second: second.handle, ids }
}

type Account = components['schemas']['Account']
type Post = components['schemas']['Post']

test('an account is labelled, made the default, checked and disconnected by its handle or label', async () => {
  const brand = await brandOwner()
  expect((await brand.run(['accounts'])).stdout).toMatch(new RegExp(`bluesky \\* +${brand.first}`))
  const labelled = await brand.run(['accounts', 'label', `@${brand.second}`, 'Second brand'])
  expect(labelled.stdout).toMatch(/ Second brand +active\n$/)
  const chosen = await brand.run(['accounts', 'default', 'SECOND BRAND'])
  expect(chosen.stdout).toMatch(new RegExp(`bluesky \\* +${brand.second}`))
  expect((await brand.run(['accounts', 'refresh', `bluesky:${brand.first}`])).code).toBe(0)

  const { postId } = await brand.read<{ postId: string }>([
    'schedule',
    'x',
    '--at',
    '+1d',
    '--account',
    'Second brand',
    '--account',
    brand.second,
  ])
  const both = ['list', '--account', 'second brand', '--account', brand.first]
  expect(await brand.read<object[]>(both)).toMatchObject([{ _id: postId, metadata: { client: 'cli' } }])
  expect(await brand.read<object[]>(['list', '--account', brand.first])).toEqual([])
  const move = ['--move-posts-to', brand.first]
  expect(await brand.run(['accounts', 'disconnect', 'Second brand', ...move])).toEqual({
    code: 0,
    stdout: `account      ${brand.ids[brand.second]}\nstatus       disconnected\nmoved posts  1\n`,
    stderr: '',
  })
  expect((await brand.run(['show', postId])).stdout).toContain(brand.first)
  expect(await brand.run(['accounts', 'disconnect', brand.first])).toMatchObject({
    code: 0,
    stderr: 'Warning: Posts that fail unless the account is connected again: 1\n',
  })
})

test('a group of accounts is created, changed and published on by its name, and deleted', async () => {
  const brand = await brandOwner()
  const created = await brand.run(['groups', 'create', 'North', '--account', brand.first, '--color', '#112233'])
  expect(created.stdout).toMatch(new RegExp(`North +#112233 +${brand.ids[brand.first]}\n$`))
  const both = ['--account', brand.first, '--account', brand.second]
  expect(await brand.read(['groups', 'edit', ' NORTH ', '--name', 'South', ...both])).toMatchObject({
    ...{ name: 'South', color: '#112233', accountIds: [brand.ids[brand.first], brand.ids[brand.second]] },
  })
  const { postId } = await brand.read<{ postId: string }>(['schedule', 'x', '--at', '+1d', '--group', 'south'])
  const shown = (await brand.run(['show', postId])).stdout
  for (const text of ['South', brand.first, brand.second]) expect(shown).toContain(text)
  const listed = async (group: string) => (await brand.read<Post[]>(['list', '--group', group])).map(({ _id }) => _id)
  expect((await brand.run(['groups', 'create', 'Empty'])).code).toBe(0)
  expect([await listed('south'), await listed('empty')]).toEqual([[postId], []])
  expect((await brand.run(['analytics', '--group', 'south'])).code).toBe(0)
  expect((await brand.run(['groups', 'delete', 'empty'])).code).toBe(0)
  expect((await brand.run(['edit', postId, '--to', 'bluesky'])).code).toBe(0)
  expect(await brand.read<Post>(['show', postId])).not.toHaveProperty('groups')

  expect((await brand.run(['groups', 'delete', 'south'])).code).toBe(0)
  expect((await brand.run(['groups'])).stdout).toBe('No groups.\n')
  const none = { code: 2, stderr: expect.stringContaining('No group is called "south"') }
  expect(await brand.run(['groups', 'edit', 'south', '--name', 'x'])).toMatchObject(none)
  expect(await brand.run(['validate', 'x', '--group', 'south'])).toMatchObject({
    ...{ code: 4, stdout: expect.stringContaining('error  selectedGroups.0') },
  })
  expect((await brand.run(['groups', 'edit', 'south'])).code).toBe(2)
})

test('weekly slots are set and listed, and posts take them', async () => {
  const brand = await brandOwner()
  const utc = ['--timezone', 'UTC']
  const set = ['slots', 'set', '--account', brand.first]
  const stored = await brand.run([...set, '--time', 'monday 09:30', '--time', 'Friday 18:00', ...utc])
  expect(stored.stdout).toMatch(new RegExp(`account ${brand.ids[brand.first]} +UTC +monday 09:30, friday 18:00\n$`))
  const { scheduledAt } = await brand.read<{ scheduledAt: string }>([
    ...['schedule', 'x', '--at', 'next-slot', '--account', brand.first],
  ])
  expect(scheduledAt).toMatch(/T(09:30|18:00):00\.000Z$/)
  const from = new Date(Date.parse(scheduledAt) - 86_400_000).toISOString().slice(0, 10)
  const to = new Date(Date.parse(scheduledAt) + 7 * 86_400_000).toISOString().slice(0, 10)
  const upcoming = await brand.read<{ postId: string | null }[]>(['slots', 'upcoming', '--from', from, '--to', to])
  expect(upcoming.filter(({ postId }) => postId !== null)).toHaveLength(1)
  expect((await brand.run(['slots', 'upcoming', '--from', from, '--to', to])).stdout).toContain('free')
  expect((await brand.run(['slots', 'set', '--time', 'monday 09:30'])).code).toBe(2)
  expect((await brand.run([...set, '--time', 'monday'])).code).toBe(2)
  expect((await brand.run(set)).stdout).toBe('No slots.\n')
  expect((await brand.run(['slots'])).stdout).toBe('No slots.\n')
})

test('a name that several accounts or none have is refused with exit code 2, and its platform makes it unique', async () => {
  const brand = await brandOwner()
  const post = ['post', 'x', '--draft', '--account']
  for (const handle of [brand.first, brand.second]) await brand.run(['accounts', 'label', handle, 'Brand'])
  const several = await brand.run([...post, 'brand'])
  expect(several).toMatchObject({ code: 2, stdout: '' })
  expect(several.stderr).toContain('Several accounts are called "brand"')
  for (const [handle, id] of Object.entries(brand.ids)) expect(several.stderr).toContain(`bluesky:${handle} or ${id}`)

  const none = { code: 2, stdout: '', stderr: expect.stringContaining('No connected account is called "nobrand"') }
  for (const args of [
    [...post, 'nobrand'],
    ['post', 'x', '--draft', '--to', 'bluesky', '--text-for', 'nobrand=x'],
    ['list', '--account', 'nobrand'],
    ['limits', '--account', 'nobrand'],
    ['accounts', 'refresh', 'nobrand'],
    ['accounts', 'disconnect', brand.first, '--move-posts-to', 'nobrand'],
  ]) {
    expect(await brand.run(args)).toEqual(none)
  }
  expect((await brand.run([...post, `bluesky:${brand.second}`])).code).toBe(0)
})

test('accounts of platforms with a page of their own are connected in a browser, not by the command line', async () => {
  const refused = await run(['accounts', 'connect', 'mastodon', 'ann@example.com'])
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Allowed choices are bluesky') })
  expect((await run(['accounts', 'connect', '--help'])).stdout).toMatch(/a browser that is logged\s+in/)
})

test('a post has other texts for a platform and an account, and edit changes what is named only', async () => {
  const brand = await brandOwner()
  const id = brand.ids[brand.second]!
  const texts = ['--text-for', 'mastodon=On Mastodon', '--text-for', `${brand.second}=a=b`]
  const post = ['post', 'Everywhere', '--draft', '--to', 'mastodon', '--account', brand.second, ...texts]
  const { postId } = JSON.parse((await brand.run([...post, '--json'])).stdout)
  expect(await brand.read<Post>(['show', postId])).toMatchObject({
    platformSpecificContent: { mastodon: { text: 'On Mastodon' } },
    accountSpecificContent: { [id]: { text: 'a=b' } },
  })
  expect((await brand.run(['edit', postId, '--text-for', 'mastodon=Changed'])).stdout).toMatch(
    /^post .*\nstatus +DRAFT\n/,
  )
  expect((await brand.run(['edit', postId, '-', '--at', '2090-05-01T09:30'], { input: 'All\n' })).code).toBe(0)
  expect(await brand.read<Post>(['show', postId])).toMatchObject({
    content: { text: 'All' },
    scheduledAt: '2090-05-01T07:30:00.000Z',
    selectedPlatforms: expect.arrayContaining(['bluesky', 'mastodon']),
    platformSpecificContent: { mastodon: { text: 'Changed' } },
    accountSpecificContent: { [id]: { text: 'a=b' } },
  })
  const moved = ['--account', brand.first, '--text-for', `${brand.first}=First`]
  expect((await brand.run(['edit', postId, ...moved])).code).toBe(0)
  expect(await brand.read<Post>(['show', postId])).toMatchObject({
    selectedPlatforms: ['bluesky'],
    selectedAccounts: [brand.ids[brand.first]],
    platformSpecificContent: { mastodon: { text: 'Changed' } },
    accountSpecificContent: { [id]: { text: 'a=b' }, [brand.ids[brand.first]!]: { text: 'First' } },
  })
  for (const args of [[], ['--text-for', 'mastodon'], ['--alt', 'x'], ['--at', '2020-01-01T00:00Z']]) {
    expect(await brand.run(['edit', postId, ...args])).toMatchObject({ code: 2, stdout: '' })
  }
})

test('a thread with a first comment is published, and every part of it is shown', async () => {
  const [one, two, below] = [unique('one'), unique('two'), unique('below')]
  const post = ['post', one, '--to', 'bluesky', '--segment', two, '--first-comment', below]
  const { code, stdout, stderr } = await run([...post, '--wait'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const line = (name: string) => expect.stringMatching(new RegExp(`^${name} +completed +https?:`))
  expect(stdout.split('\n').slice(-5)).toEqual([
    expect.stringMatching(/^bluesky +\S+ +completed +https?:/),
    ...[line('  post 1 +-'), line('  post 2 +-'), line('  comment +-'), ''],
  ])
  const texts = (await owner.published()).map(({ text }) => text)
  expect(texts).toEqual(expect.arrayContaining([one, two, below]))
})

test('options are read from the argument or a file, shown, replaced and removed', async () => {
  const given = { bluesky: { languages: ['en'], labels: ['nudity'] } }
  const create = ['post', 'With options', '--draft', '--to', 'bluesky', '--options']
  const { postId } = await runJson<{ postId: string }>([...create, JSON.stringify(given)])
  const content = async () => (await runJson<Post>(['show', postId])).content
  expect((await content()).options).toEqual(given)
  expect((await run(['show', postId])).stdout).toContain(JSON.stringify(given))
  const file = join(folder, 'options.json')
  writeFileSync(file, '{"tumblr": {"tags": ["harbour"]}}')
  await runJson(['edit', postId, '--options', `@${file}`])
  expect((await content()).options).toEqual({ tumblr: { tags: ['harbour'] } })
  await runJson(['edit', postId, '--options', '{}'])
  expect(await content()).not.toHaveProperty('options')
  for (const wrong of ['{', '[]', `@${file}.none`]) expect((await run([...create, wrong])).code).toBe(2)
  const unknown = await run([...create, '{"bluesky":{"language":"en"}}'])
  expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('Did you mean languages?') })
})

test('a published post is taken back, and shows how far that is', async () => {
  const text = unique('taken back')
  const { postId } = await runJson<{ postId: string }>(['post', text, '--to', 'bluesky', '--wait'])
  const edit = await run(['edit-published', postId, 'Edited'])
  expect(edit).toMatchObject({ code: 4, stderr: expect.stringContaining('Bluesky lets no program edit posts') })
  const { code, stdout } = await run(['take-back', postId])
  expect([code, stdout]).toEqual([0, expect.stringContaining('Removal requested')])
  await expect
    .poll(async () => (await run(['show', postId])).stdout, { timeout: 30_000 })
    .toMatch(/bluesky .* deleted .* Removed\n/)
  expect((await owner.published()).map((entry) => entry.text)).not.toContain(text)
  const draft = await runJson<{ postId: string }>(['post', text, '--to', 'bluesky', '--draft'])
  expect((await run(['take-back', draft.postId])).code).toBe(4)
})

test('edit replaces a thread and a comment, and empty texts remove them', async () => {
  const thread = ['--segment', 'Two', '--segment', 'Three', '--first-comment', 'Below', '--on-unsupported', 'join']
  const { postId } = await runJson<{ postId: string }>(['post', 'One', '--draft', '--to', 'bluesky', ...thread])
  const content = async () => (await runJson<Post>(['show', postId])).content
  expect(await content()).toMatchObject({
    ...{ segments: [{ text: 'Two' }, { text: 'Three' }], firstComment: 'Below', onUnsupported: 'join' },
  })
  expect((await run(['show', postId])).stdout).toMatch(/\npost 2 +Two\npost 3 +Three\ncomment +Below\n/)
  await runJson(['edit', postId, '--segment', 'Only', '--first-comment', ''])
  expect(await content()).toEqual({ ...(await content()), text: 'One', segments: [{ text: 'Only', mediaItems: [] }] })
  expect(await content()).not.toHaveProperty('firstComment')
  await runJson(['edit', postId, '--segment', ''])
  expect(await content()).not.toHaveProperty('segments')

  const report = await run(['validate', 'One', '--to', 'bluesky,facebook', '--segment', 'Two'])
  expect(report.code).toBe(4)
  expect(report.stdout).toMatch(/^bluesky +3 +300 +0\nbluesky 2 +3 +300 +0\n/m)
  expect(report.stdout).toContain('error  content.segments: Facebook has no threads.')
  expect((await run(['validate', 'One', '--to', 'bluesky', '--on-unsupported', 'drop'])).code).toBe(2)
})

test('validate prints lengths and problems, creates nothing, and ends with exit code 4 for a post that would be refused', async () => {
  const text = unique('check')
  const valid = await run(['validate', text, '--to', 'bluesky'])
  expect(valid).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^valid +yes\nFOR +LENGTH +LIMIT +MEDIA\nbluesky +\d/),
  })
  const invalid = await run(['validate', '-', '--to', 'bluesky'], { input: text.padEnd(301, 'x') })
  expect(invalid).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/^valid +no\n[^]*\nbluesky +301 +300 +0\nerror {2}/),
  })
  expect(await runJson<object[]>(['list', '--search', text])).toEqual([])
})

test('limits shows what platforms accept and what the account has used', async () => {
  const { stdout } = await run(['limits'])
  expect(stdout).toMatch(/^PLATFORM +TEXT +MEDIA +IMAGES +VIDEOS +THREADS +COMMENTS +TAKE BACK +EDIT +PUBLISHED\n/)
  expect(stdout).toMatch(/^bluesky +300 characters, 3000 bytes +4 +4 of 2 MB +1 of 300 MB /m)
  expect(stdout).toMatch(/^instagram +2200 characters +1 to 10 /m)
})

test('posts are exported to a file that can be imported, and to standard output', async () => {
  const text = unique('exported')
  await runJson(['schedule', text, '--to', 'bluesky', '--at', '2090-07-01T09:30'])
  const file = join(folder, 'export.csv')
  const filter = ['--status', 'SCHEDULED', '--from', '2090-07-01', '--to', '2090-07-02']
  expect((await run(['export', file, ...filter])).stdout).toMatch(/^file +\S+export\.csv\nbytes +\d+\n$/)
  expect(readFileSync(file, 'utf8')).toContain(text)
  expect((await run(['import', file])).stdout).toMatch(/^rows +1 \(1 (conflict|ready)/m)
  expect(await runJson(['export', ...filter])).toMatchObject([{ content: { text } }])
  expect((await run(['export', '--format', 'csv', ...filter])).stdout).toMatch(/^"text",/)
  for (const path of ['posts.xml', join(folder, 'missing', 'posts.csv')]) {
    expect(await run(['export', path])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(path) })
  }
})

test('the installed packages have their license and a README', () => {
  for (const name of ['cli', 'sdk']) {
    for (const file of ['LICENSE', 'README.md']) {
      expect([name, file, existsSync(join(project, 'node_modules', '@postonce', name, file))]).toEqual([
        name,
        file,
        true,
      ])
    }
  }
})

test('the exit code is 5 when the service cannot be reached', async () => {
  const { code, stderr } = await run(['cancel', '0'.repeat(24)], { env: { POSTONCE_URL: 'http://127.0.0.1:9' } })
  expect({ code, stderr }).toEqual({ code: 5, stderr: 'Error: http://127.0.0.1:9 cannot be reached.\n' })
})

test('Ctrl-C ends a wait with exit code 130, and the post continues', async () => {
  const countPolls = async () => (await api.control.requests()).filter(({ path }) => path.endsWith('/status')).length
  const before = await countPolls()
  const text = unique('interrupted')
  const child = startPostonce(['schedule', text, '--to', 'bluesky', '--at', '+1d', '--wait'], { env }, program)
  await expect.poll(countPolls, { timeout: 50_000 }).toBeGreaterThan(before)
  child.kill('SIGINT')
  expect(await once(child, 'close')).toEqual([130, null])
  expect(await runJson<object[]>(['list', '--search', text])).toMatchObject([{ status: 'SCHEDULED' }])
})

interface PrintedEvent {
  sequence: number
  type: string
  data: { postId: string }
}

const parseLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedEvent)

test('events are listed after a sequence, and followed as they happen', async () => {
  const before = parseLines((await run(['events', '--json'])).stdout).at(-1)!.sequence
  const follower = startPostonce(
    ['events', '--follow', '--json', '--types', 'post.cancelled', '--limit', '1'],
    { env },
    program,
  )
  const followed = Promise.all([text(follower.stdout), once(follower, 'close')])
  await expect
    .poll(async () => (await api.control.requests()).some(({ path }) => path.includes('/events/stream')), {
      timeout: 50_000,
    })
    .toBe(true)

  const { postId } = await runJson<{ postId: string }>(['schedule', 'x', '--to', 'bluesky', '--at', '+1d'])
  await run(['cancel', postId])
  const [output, ended] = await followed
  expect(ended).toEqual([0, null])
  expect(parseLines(output)).toMatchObject([{ type: 'post.cancelled', data: { postId } }])
  const listed = parseLines((await run(['events', '--json', '--after', String(before)])).stdout)
  expect(listed.map(({ type }) => type)).toEqual(['post.created', 'post.scheduled', 'post.cancelled'])
  expect(listed[0]!.sequence).toBe(before + 1)
  expect((await run(['events', '--after', String(before), '--limit', '1'])).stdout).toMatch(
    new RegExp(`^${before + 1}  \\S+ \\S+  post.created  .*postId=${postId}`),
  )
})

test('a CSV file is planned, refused while it has errors, and imported without them', async () => {
  const name = unique('import')
  const rows = [1, 2, 3].map((nth) => `${name} ${nth},bluesky,2090-06-0${nth}T09:30`)
  const file = join(folder, 'plan.csv')
  writeFileSync(file, `text,platforms,scheduledAt\n${rows.join('\n')}\n${'x'.repeat(400)},bluesky,2090-06-04T09:30\n`)

  const plan = await run(['import', file])
  expect(plan).toMatchObject({ code: 0, stderr: expect.stringContaining('postonce imports apply ') })
  expect(plan.stdout).toMatch(/^rows +4 \(3 ready, 1 error\)$/m)
  expect(plan.stdout).toMatch(/^4 +error +.*300/m)
  expect(await run(['import', file, '--apply'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('IMPORT_HAS_ERRORS'),
  })
  expect(await runJson(['import', file, '--apply', '--skip-errors'])).toMatchObject({
    state: 'completed',
    timezone: 'Europe/Berlin',
    counts: { created: 3, skipped: 1 },
  })
  expect(await runJson<object[]>(['list', '--search', name])).toHaveLength(3)
  expect((await run(['imports'])).stdout).toMatch(/completed +4 +3 /)
  expect((await run(['import', 'plan.xml'])).code).toBe(2)
})

test('a webhook is created, tested and deleted, and the SDK verifies what it delivers', async () => {
  const path = `/${unique('hook')}`
  const types = ['--events', 'post.published,post.failed']
  const { id, secret } = await runJson<{ id: string; secret: string }>([
    'webhooks',
    'create',
    `${receiver.origin}${path}`,
    ...types,
  ])
  await run(['webhooks', 'test', id])
  const [delivered] = await receiver.until(path, 1)
  expect(await verifyWebhook({ secret, ...delivered! })).toMatchObject({ type: 'webhook.test' })
  await expect
    .poll(async () => (await run(['webhooks', 'deliveries', id])).stdout, { timeout: 50_000 })
    .toMatch(/delivered .* webhook\.test/)
  expect((await run(['webhooks'])).stdout).toMatch(/enabled +post\.published,post\.failed/)
  const rotated = await runJson<{ secret: string }>(['webhooks', 'rotate-secret', id])
  expect(rotated.secret).not.toBe(secret)
  expect((await run(['webhooks', 'disable', id])).code).toBe(0)
  expect((await run(['webhooks', 'delete', id])).code).toBe(0)
  expect((await run(['webhooks'])).stdout).toBe('No webhooks.\n')
})

test('the completion proposes commands and platforms, and its script is valid bash', async () => {
  expect((await run(['complete', '--', 'sch'])).stdout).toContain('schedule\t')
  expect((await run(['complete', '--', 'post', '--to', ''])).stdout).toContain('mastodon')
  expect((await run(['completion', 'bash'])).stdout).toContain('complete -')
})

/** Dozens of programs run one after the other. */
const GUIDE_TIMEOUT_MS = 300_000
const GUIDE = ['Publish from a shell', 'Schedule a file', 'Follow events and receive webhooks']

test(
  'the commands of the guide run as they are printed',
  async () => {
    const commands = GUIDE.map((heading) => readCommands('guide/sdk-and-cli.md', heading))
      .join('\n')
      .replace('http://localhost:4000', api.url)
      .replace('https://example.com', receiver.origin)
    const postonce = `postonce() { node ${program} "$@"; }\n`
    const output = await runCommands(postonce + commands, { KEY: env['POSTONCE_API_KEY']!, HOME: folder }, folder)
    expect(output).toMatch(/^rows +50 \(50 created\)$/m)
    expect(output).toMatch(/^\d+ +\S+ \S+ +post\.published/m)
    expect(output).toMatch(/webhook\.test/)
    expect(output).toMatch(
      /status +COMPLETED[^]*status +SCHEDULED[^]*status +CANCELLED[^]* CANCELLED .*See you tomorrow/,
    )
  },
  GUIDE_TIMEOUT_MS,
)

const EXAMPLES = [...readExamples('packages/sdk/README.md'), ...readExamples('docs/guide/sdk-and-cli.md')]

test.each(EXAMPLES.map((code, index) => [index + 1, code]))(
  'example %i of the README and the guide of the SDK runs',
  async (number, code) => {
    const file = join(project, `example-${number}.js`)
    writeFileSync(file, code)
    writeFileSync(join(project, 'harbour.png'), await picture())
    const { email, password } = owner.secrets
    const ended = await runPostonce([], { env: { ...env, EMAIL: email, PASSWORD: password }, cwd: project }, file)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
  },
)
