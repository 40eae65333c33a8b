import { afterAll, beforeAll, expect, it } from 'vitest'
import { derivePostEvents } from '../../../src/domain/events/post-events.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { runAdmin } from '../../support/admin-command.ts'
import { apiWorld, createAccount, type ApiWorld } from '../../support/api.ts'
import { HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { buildPost } from '../../support/posts.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { unique } from '../../support/servers.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
})
afterAll(() => world.close())

const admin = (args: string[], input?: string) => runAdmin(world.context.config, args, input)

const newEmail = () => `${unique('admin')}@example.test`

const logIn = async (email: string, password: string) =>
  (await world.app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password } })).json()

it('`admin create` shows a generated password once, and the account can log in', async () => {
  const email = newEmail()
  const { output, code } = await admin(['create', email.toUpperCase(), '--name', 'Grace'])
  expect(code).toBe(0)
  const [, id] = new RegExp(`^Created ${email} \\(([0-9a-f]{24})\\)\\.$`, 'm').exec(output)!
  const [, password] = /^Password, shown only this once: (\S+)$/m.exec(output)!
  expect((await logIn(email, password!)).data.user).toMatchObject({
    id,
    email,
    name: 'Grace',
    role: 'user',
    limits: { maxPosts: 1_000_000, maxCaptionGenerations: 1_000_000 },
  })
})

it('`admin create` accepts a password from standard input and then shows none', async () => {
  const email = newEmail()
  const { output, code } = await admin(['create', email, '--password-stdin'], 'from standard input\n')
  expect(code).toBe(0)
  expect(output).not.toContain('Password')
  expect((await logIn(email, 'from standard input')).success).toBe(true)
})

it('the admin role takes effect immediately and permanently', async () => {
  const user = await createAccount(world.context)
  expect(await admin(['grant', user.email])).toMatchObject({ code: 0, output: `${user.email} is now an admin.\n` })
  expect((await world.context.users.findById(user._id))!.role).toBe('admin')
})

it('`admin revoke`, `disable` and `enable` each leave an audit entry', async () => {
  const user = await createAccount(world.context, { role: 'admin' })
  const { email } = user
  expect((await admin(['revoke', email])).output).toBe(`${email} is no longer an admin.\n`)
  expect((await admin(['disable', email])).output).toBe(`${email} is disabled.\n`)
  expect(await world.context.users.findById(user._id)).toMatchObject({ role: 'user', isDisabled: true })
  expect((await admin(['enable', email])).output).toBe(`${email} is enabled.\n`)
  expect(await Array.fromAsync(world.context.audit.streamBySubject(user._id))).toMatchObject([
    { actorId: 'cli', action: 'update-role', before: { role: 'admin' }, after: { role: 'user' }, ipAddress: null },
    { actorId: 'cli', action: 'update-activity', before: { isDisabled: false }, after: { isDisabled: true } },
    { actorId: 'cli', action: 'update-activity', before: { isDisabled: true }, after: { isDisabled: false } },
  ])
})

it('`admin limits` sets the limits of one user, with an audit entry', async () => {
  const { _id, email } = await createAccount(world.context)
  const { output } = await admin(['limits', email, '--posts', '2000'])
  expect(output).toBe(`${email} has 2000 posts and 15 caption generations.\n`)
  const limits = { maxPosts: 2_000, maxCaptionGenerations: 15 }
  expect((await world.context.users.findById(_id))!.limits).toEqual(limits)
  expect(await Array.fromAsync(world.context.audit.streamBySubject(_id))).toMatchObject([
    { actorId: 'cli', action: 'update-limits', before: { limits: { maxPosts: 1_000 } }, after: { limits } },
  ])
})

it('`admin raise-limits` raises the records that still hold the old post limit, and lowers none', async () => {
  const { context } = world
  const store = (maxPosts: number, maxCaptionGenerations: number) =>
    createAccount(context, { limits: { maxPosts, maxCaptionGenerations } })
  const users = await Promise.all([store(31, 15), store(31, 2_000_000), store(32, 15), store(2_000_000, 15)])
  expect(await admin(['raise-limits', '31'])).toMatchObject({ code: 0, output: 'Raised: 2.\n' })
  expect(await admin(['raise-limits', '2000000'])).toMatchObject({ code: 0, output: 'Raised: 0.\n' })
  const after = await Promise.all(users.map(async ({ _id }) => (await context.users.findById(_id))!.limits))
  expect(after.map(({ maxPosts, maxCaptionGenerations }) => [maxPosts, maxCaptionGenerations])).toEqual([
    [1_000_000, 1_000_000],
    [1_000_000, 2_000_000],
    [32, 15],
    [2_000_000, 15],
  ])
  expect(await Array.fromAsync(context.audit.streamBySubject(users[0]._id))).toMatchObject([
    { action: 'update-limits', before: { limits: { maxPosts: 31 } }, after: { limits: { maxPosts: 1_000_000 } } },
  ])
})

it('`admin list` shows no secrets', async () => {
  const user = await createAccount(world.context, { withPassword: true, name: 'Listed' })
  const { output, code } = await admin(['list'])
  expect(code).toBe(0)
  const [header, ...rows] = output.split('\n')
  expect(header).toMatch(/^EMAIL +NAME +ROLE +PLAN +POSTS +CREATED +LAST LOGIN$/)
  expect(rows.find((row) => row.startsWith(user.email))).toMatch(/Listed +user +free +0\/1000 +\d{4}-\d\d-\d\d +never$/)
  expect(output).not.toContain('argon2')
})

it('`admin misplaced` lists posts that were published on another account than the one they were created for', async () => {
  const { context } = world
  const { _id: userId, email } = await createAccount(context)
  const [misplaced, other] = [publishedPost({ userId }), publishedPost({ userId })]
  const withAccount = (post: Post, name: string): Post => ({
    ...post,
    platformStatuses: post.platformStatuses.map((entry) => ({
      ...entry,
      accountId: name,
      accountName: `${name}.test`,
    })),
  })
  const created = [misplaced, other].flatMap((post) =>
    derivePostEvents(null, withAccount(post, 'first'), post.createdAt),
  )
  const events = created.filter(({ type }) => type === 'post.created')
  await context.database.transaction((session) => context.events.append(userId, events, session))
  await storePosts(context, [withAccount(misplaced, 'second'), withAccount(other, 'first')])
  const { output } = await admin(['misplaced'])
  const url = 'https://example.test/post'
  expect(
    output
      .split('\n')
      .filter((row) => row.startsWith(email))
      .map((row) => row.split(/ +/)),
  ).toEqual([[email, misplaced._id, 'bluesky', 'first.test', 'second.test', url]])
})

it('`admin restored` puts due posts in doubt and pauses imports, and `admin held` lists the posts and takes decisions', async () => {
  const { posts } = world.context
  const { _id: userId, email } = await createAccount(world.context)
  const dumpedAt = new Date(Date.now() - MINUTE)
  const [due, later] = [
    buildPost({ userId, selectedPlatforms: ['bluesky', 'threads'] }, dumpedAt),
    buildPost({ userId, scheduledAt: new Date(Date.now() + HOUR) }, dumpedAt),
  ]
  await storePosts(world.context, [due, later])
  const running = { _id: newId(), userId, state: 'applying', leasedUntil: dumpedAt }
  const imports = world.context.database.connection.collection<typeof running>('imports')
  await imports.insertOne(running)
  const { output, code } = await admin(['restored', '--dumped-at', dumpedAt.toISOString()])
  expect(code).toBe(0)
  expect(output).toMatch(/^Marked \d+ posts.*\nPaused 1 imports/)
  expect(await imports.findOne({ _id: running._id })).toMatchObject({ state: 'paused' })
  const listed = async () => {
    const rows = (await admin(['held'])).output.split('\n').filter((row) => row.startsWith(email))
    return rows.map((row) => row.split(/ +/).slice(1, 4))
  }
  expect(await listed()).toEqual([
    [due._id, 'bluesky', 'bluesky'],
    [due._id, 'threads', 'threads'],
  ])
  expect((await admin(['held', 'publish', due._id, 'threads'])).output).toBe(`Publishing 1 deliveries of ${due._id}.\n`)
  expect((await admin(['held', 'drop', due._id])).output).toBe(`Dropped 1 deliveries of ${due._id}.\n`)
  expect((await posts.find(due._id))!.platformStatuses).toMatchObject([{ status: 'failed' }, { status: 'pending' }])
  expect(await posts.find(later._id)).toMatchObject({ status: 'SCHEDULED', revision: 0 })
  expect(await listed()).toEqual([])
  expect((await admin(['held', 'publish', due._id])).errors).toMatch(/^No such delivery is held/)
})

it.each([
  [[], /^Usage:/],
  [['restored'], /^Usage:/],
  [['restored', '--dumped-at', '2026-03-01T02:00:00'], /is not a past time with a time zone/],
  [['restored', '--dumped-at', '2926-03-01T02:00:00Z'], /is not a past time with a time zone/],
  [['held', 'forget', 'x'], /^Usage:/],
  [['held', 'drop'], /^Usage:/],
  [['promote', 'ann@example.test'], /^Usage:/],
  [['create'], /^Usage:/],
  [['constructor', 'ann@example.test'], /^Usage:/],
  [['limits', 'ann@example.test'], /^Usage:/],
  [['raise-limits', '-1'], /Usage:/],
  [['raise-limits', 'many'], /many is not a whole number/],
  [['create', 'ann@example.test', '--role', 'admin'], /'--role'[^]*Usage:/],
  [['create', 'not-an-address'], /not-an-address is not an email address/],
  [['grant', 'nobody@example.test'], /No account has the address nobody@example\.test/],
])('`admin` with %j fails with a sentence and status 1', async (args, message) => {
  const { errors, output, code } = await admin(args)
  expect(code).toBe(1)
  expect(output).toBe('')
  expect(errors).toMatch(message)
  expect(errors).not.toContain('    at ')
})

it('`admin create` rejects an existing address and a short password', async () => {
  const user = await createAccount(world.context)
  expect((await admin(['create', user.email])).errors).toBe('This address already has an account\n')
  const short = await admin(['create', newEmail(), '--password-stdin'], 'short\n')
  expect(short).toMatchObject({ code: 1, errors: 'The password must have at least 8 characters\n' })
})

it('`admin check` prints the state and the next step of each part, without secrets', async () => {
  const { output, code } = await admin(['check'])
  expect(code).toBe(0)
  expect(output).toMatch(/^ready {4}storage: /m)
  expect(output).toMatch(/^missing {2}mail: .+\n {9}Set SMTP_URL and MAIL_FROM/m)
  expect(output).not.toContain(world.context.config.S3_SECRET_ACCESS_KEY)
})
