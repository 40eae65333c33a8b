import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeActivity } from '../../../src/commands/users/change-activity.ts'
import { erasureBacklog } from '../../../src/commands/users/erase-account.ts'
import { createContext, type Context } from '../../../src/context.ts'
import { CLI_ACTOR } from '../../../src/domain/users/audit.ts'
import { DAY, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import type { User } from '../../../src/domain/users/user.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { apiWorld, createAccount, PASSWORD, type ApiWorld, type SignedIn } from '../../support/api.ts'
import { INACTIVE_ORCHESTRATOR } from '../../support/inactive-orchestrator.ts'
import { newNotification } from '../../support/notifications.ts'
import { buildPost, buildClaim } from '../../support/posts.ts'
import { connect, eraser, traces, upload, userWithEverything } from './erasure-world.ts'
import { rotatingPlatform } from './world.ts'
import { openTestSession } from '../../support/sessions.ts'

let world: ApiWorld
let context: Context
const bluesky = rotatingPlatform()
/** True while Temporal accepts starts. These tests run the activities themselves. */
let isTemporalThere = true
const started: string[] = []
const forgotten: string[] = []

beforeAll(async () => {
  world = await apiWorld(
    { LOGIN_FAILURES_PER_ADDRESS: 1_000_000 },
    {
      platforms: platformsWith(bluesky.adapter),
      orchestrator: {
        ...INACTIVE_ORCHESTRATOR,
        start: async () => isTemporalThere,
        signal: async () => isTemporalThere,
        startWork: async (work, id) => {
          if (isTemporalThere && work === 'eraseAccount') started.push(id)
          return isTemporalThere
        },
        notifySubscription: async () => isTemporalThere,
        deleteWorkflows: async (ids) => void forgotten.push(...ids),
      },
    },
  )
  context = world.context
})
afterAll(() => world.close())

function platformsWith(adapter: typeof bluesky.adapter): Context['platforms'] {
  return {
    find: (platform) => (platform === adapter.platform ? adapter : null),
    close: async () => {},
    warmUp: async () => {},
  } as Partial<Context['platforms']> as Context['platforms']
}

let addresses = 0
const erase = (who: SignedIn, body?: object) =>
  world.app.inject({
    method: 'DELETE',
    url: '/api/profile',
    headers: who.headers,
    remoteAddress: `198.51.100.${(addresses += 1)}`,
    ...(body === undefined ? {} : { payload: body }),
  })

const logIn = (email: string) =>
  world.app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password: PASSWORD } })

const createUser = (changes: Partial<User> = {}) => userWithEverything(context, bluesky.login(), changes)
const createPasswordUser = async () => createUser({ passwordHash: await context.passwords.hash(PASSWORD, '') })
const stored = ({ user }: SignedIn) => context.users.findById(user._id)
const WHERE_IDS_STAY = ['auditLog', 'erasures']

describe('requesting erasure', () => {
  it('an erasure request closes the account immediately: no session, no login, no admin can enable it', async () => {
    const who = await createPasswordUser()
    const { _id: userId, email } = who.user
    const response = await erase(who, { password: PASSWORD })
    expect(response.statusCode).toBe(202)
    expect(response.json()).toEqual({ success: true, message: 'Your account is being erased' })
    expect(response.headers['set-cookie']).toMatch(/^refreshToken=;/)
    expect(started).toContain(userId)

    expect((await world.app.inject({ url: '/api/auth/me', headers: who.headers })).statusCode).toBe(401)
    const cookies = { refreshToken: who.refreshCookie }
    expect((await world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies })).statusCode).toBe(401)
    expect((await logIn(email)).json()).toMatchObject({ statusCode: 403, message: 'Account is disabled' })
    await expect(changeActivity(context, CLI_ACTOR, userId, true)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await erase(who, { password: PASSWORD })).toMatchObject({ statusCode: 401 })
  })

  it('an erasure request requires the password of an account that has one', async () => {
    const who = await createPasswordUser()
    expect((await erase(who, { password: 'not the password' })).json()).toMatchObject({
      statusCode: 400,
      code: 'INCORRECT_PASSWORD',
      message: 'Incorrect current password',
    })
    for (const body of [undefined, {}]) {
      expect((await erase(who, body)).json()).toMatchObject({ statusCode: 400, errors: [{ path: 'password' }] })
    }
    expect(await stored(who)).toMatchObject({ isDisabled: false })
  })

  it('wrong passwords in erasure requests count as failed logins', async () => {
    const who = await createPasswordUser()
    const guess = (password: string) =>
      world.app.inject({ method: 'DELETE', url: '/api/profile', headers: who.headers, payload: { password } })
    for (let nth = 0; nth < 10; nth += 1) expect((await guess('not the password')).statusCode).toBe(400)
    const refused = await guess(PASSWORD)
    expect(refused.json()).toMatchObject({ statusCode: 429, bucket: 'login' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await stored(who)).toMatchObject({ isDisabled: false })
  })

  it('an erasure request for an account without a password requires a login within ten minutes', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const loggedInAt = (ago: number) =>
      context.database.connection
        .collection('sessions')
        .updateOne({ userId: who.user._id }, { $set: { createdAt: new Date(Date.now() - ago) } })
    await loggedInAt(10 * MINUTE + SECOND)
    expect((await erase(who)).json()).toMatchObject({ statusCode: 403, code: 'FRESH_LOGIN_REQUIRED' })
    expect(await stored(who)).toMatchObject({ isDisabled: false })
    await loggedInAt(9 * MINUTE)
    expect((await erase(who)).statusCode).toBe(202)
  })

  it('two concurrent erasure requests have the same effect as one', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const answers = await Promise.all([erase(who), erase(who), erase(who)])
    const statuses = answers.map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status !== 401)).toEqual(statuses.filter((status) => status === 202))
    expect(statuses).toContain(202)
    await eraser(context).round(who.user._id)
    expect(await traces(context, who.user._id, who.user.email)).toEqual(WHERE_IDS_STAY)
  })

  it('an erasure request survives a Temporal outage: the sweeper starts it', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const { _id: id } = who.user
    const unstarted = async () => {
      const listed = await erasureBacklog(context).listUnstarted(new Date(Date.now() + SECOND), 1_000)
      return listed.some((one) => one.id === id && one.userId === id)
    }
    isTemporalThere = false
    expect((await erase(who)).statusCode).toBe(202)
    isTemporalThere = true
    expect(started).not.toContain(id)
    expect(await unstarted()).toBe(true)
    await eraser(context).begin(id)
    expect(await unstarted()).toBe(false)
  })
})

describe('an erased account', () => {
  it('an erased account leaves only a tombstone and ids in the audit log', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const other = await createUser()
    const { _id: userId, email } = who.user
    const posts = (await context.posts.listSome(userId, 10)).map(({ _id }) => _id)
    const before = bluesky.revoked.length
    await erase(who)
    await eraser(context).round(userId)

    expect(await traces(context, userId, email)).toEqual(WHERE_IDS_STAY)
    expect(await context.erasures.find(userId)).toEqual({
      _id: userId,
      requestedAt: expect.any(Date),
      erasedAt: expect.any(Date),
      isOpen: true,
      leasedUntil: expect.any(Date),
    })
    expect(await context.audit.page({ page: 1, limit: 200 }).then(({ entries }) => entries)).toContainEqual(
      expect.objectContaining({ actorId: userId, subjectId: userId, ipAddress: null }),
    )
    expect(bluesky.revoked.length).toBe(before + 1)
    expect(forgotten).toEqual(expect.arrayContaining([...posts.map(publishPostWorkflowId), `subscription/${userId}`]))
    expect(await stored(other)).toMatchObject({ email: other.user.email, isDisabled: false })
    expect((await traces(context, other.user._id)).length).toBeGreaterThan(11)
  })

  it('an erased account frees its address for a new account', async () => {
    const who = await createPasswordUser()
    const { _id: userId, email } = who.user
    await erase(who, { password: PASSWORD })
    await eraser(context).round(userId)
    expect((await logIn(email)).statusCode).toBe(401)
    await createAccount(context, { email, withPassword: true })
    expect((await logIn(email)).statusCode).toBe(200)
  })

  it('an erased account is scanned a second time for late writes', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const { _id: userId, email } = who.user
    await erase(who)
    const { round, close, begin } = eraser(context)
    await round(userId)
    await context.notifications.insertOnce(newNotification(userId))
    await upload(context, `posts/${userId}/late.png`)
    await connect(context, userId, bluesky.login())
    await openTestSession(context, who.user, { ipAddress: '192.0.2.1', userAgent: 'late' })
    const late = buildPost({ userId, scheduledAt: new Date(Date.now() + DAY) }, new Date())
    await context.database.transaction((session) => context.posts.insert([late], session))
    const before = bluesky.revoked.length
    await round(userId)
    expect(await traces(context, userId, email)).toEqual(WHERE_IDS_STAY)
    expect(bluesky.revoked.length).toBe(before + 1)
    await close(userId)
    expect(await begin(userId)).toBeNull()
    expect(await context.erasures.find(userId)).toMatchObject({ isOpen: false })
  })

  it('an erased account accepts no new posts, even from a request that was admitted before', async () => {
    const who = await createUser({ auth: { provider: 'google' } })
    const { _id: userId } = who.user
    await erase(who)
    await eraser(context).round(userId)
    await expect(context.storePost(buildPost({ userId }, new Date()))).rejects.toMatchObject({
      code: 'POST_LIMIT_REACHED',
    })
    expect(await traces(context, userId)).toEqual(WHERE_IDS_STAY)
  })
})

it('the erasure test covers every collection that names a user', async () => {
  const { user } = await createUser()
  const { database, close } = await createContext(context.config)
  const naming = Object.values(database.connection.models)
    .filter(({ schema }) => schema.path('userId') !== undefined)
    .map(({ collection }) => collection.name)
  await close()
  expect(naming.length).toBeGreaterThan(7)
  expect(await traces(context, user._id)).toEqual(expect.arrayContaining(naming))
})

it('an erasure waits for a running call as long as it may take, and cancels waiting posts meanwhile', async () => {
  const who = await createUser({ auth: { provider: 'google' } })
  const { _id: userId } = who.user
  const post = buildPost({ userId }, new Date())
  await context.database.transaction((session) => context.posts.insert([post], session))
  await context.posts.transition(post, buildClaim(post, 'bluesky', new Date(), MINUTE))
  await erase(who)
  const failure = await eraser(context)
    .round(userId)
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ApplicationFailure)
  const { type, nextRetryDelay } = failure as ApplicationFailure
  expect([type, nextRetryDelay]).toEqual(['RetryAfter', 2 * SECOND])
  const left = await context.posts.listSome(userId, 10)
  expect(left.map(({ status }) => status).toSorted()).toEqual(['CANCELLED', 'COMPLETED', 'DRAFT', 'PROCESSING'])
})

it('an erasure asks an unreachable platform a few times to end the login, then deletes it anyway', async () => {
  const away = rotatingPlatform()
  let calls = 0
  const adapter = {
    ...away.adapter,
    revoke: async () => {
      calls += 1
      throw new Error('away')
    },
  }
  const who = await userWithEverything(context, away.login())
  const { _id: userId } = who.user
  await context.database.transaction((session) => context.erasures.begin(userId, new Date(), session))
  await eraser({ ...context, platforms: platformsWith(adapter) }).round(userId, 5)
  expect(calls).toBe(5)
  expect(await traces(context, userId, who.user.email)).toEqual(WHERE_IDS_STAY)
})

describe('an erasure killed after any of its calls and repeated', () => {
  class Killed extends Error {}

  /** Returns deps whose `at`th call takes effect and then throws, like a killed process. */
  function killAtCall(at: number): { deps: Context; calls: () => number } {
    let calls = 0
    const watched =
      <A extends unknown[]>(work: (...args: A) => unknown) =>
      async (...args: A) => {
        const result = await work(...args)
        if ((calls += 1) === at) throw new Killed()
        return result
      }
    const part = <T extends object>(object: T): T =>
      Object.fromEntries(
        Object.entries(object).map(([name, value]) => [name, typeof value === 'function' ? watched(value) : value]),
      ) as T
    const { accounts, addressCodes, apiKeys, audit, connectAttempts, erasures, mails, notifications } = context
    const { passwordResets, paymentEvents, pushTokens } = context
    const { orchestrator, posts, rateLimits, sessions, storage, users, database } = context
    const { webhooks, webhookDeliveries } = context
    const parts = {
      accounts,
      addressCodes,
      apiKeys,
      passwordResets,
      paymentEvents,
      pushTokens,
      audit,
      connectAttempts,
      erasures,
      mails,
      notifications,
      orchestrator,
      posts,
      rateLimits,
      webhooks,
      webhookDeliveries,
    }
    const deps = {
      ...context,
      ...(Object.fromEntries(
        Object.entries({ ...parts, sessions, storage, users }).map(([name, value]) => [name, part(value)]),
      ) as typeof parts),
      database: { ...database, transaction: watched(database.transaction.bind(database)) } as typeof database,
    }
    return { deps, calls: () => calls }
  }

  it('a killed and repeated erasure has the same result', async () => {
    const names: string[] = []
    /** Returns false when there are fewer calls. */
    const kill = async (at: number): Promise<boolean> => {
      const who = await userWithEverything(context, rotatingPlatform().login())
      const { _id: userId, email } = who.user
      names.push(userId, email)
      await context.database.transaction((session) => context.erasures.begin(userId, new Date(), session))
      const { deps, calls } = killAtCall(at)
      const outcome = await eraser(deps)
        .round(userId)
        .catch((error: unknown) => error)
      if (outcome !== undefined) expect(outcome).toBeInstanceOf(Killed)
      if (calls() >= at) await eraser(context).round(userId)
      expect((await context.erasures.find(userId))?.erasedAt, `killed after call ${at}`).toBeInstanceOf(Date)
      return calls() >= at
    }
    const CONCURRENT = 6
    for (let first = 1; ; first += CONCURRENT) {
      const killed = await Promise.all(Array.from({ length: CONCURRENT }, (_, index) => kill(first + index)))
      if (killed.every(Boolean)) continue
      expect(first).toBeGreaterThan(20)
      break
    }
    expect(await traces(context, ...names)).toEqual(WHERE_IDS_STAY)
  })
})
