import { describe, expect, it, vi } from 'vitest'
import { listSlots, type SlotTime } from '../../../../src/domain/posts/slots.ts'
import { applyAll, importClient } from '../../../support/imports.ts'
import { signIn, type ApiWorld } from '../../../support/api.ts'
import { addAccount, connectAccounts } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

const DAILY: SlotTime[] = [
  { day: 'monday', time: '09:00' },
  { day: 'wednesday', time: '09:00' },
]

/** Returns a user with two accounts on Bluesky, and the client of their session. */
async function newUser() {
  const who = await signIn(world.context)
  const userId = who.user._id
  await connectAccounts(world.context, userId, ['bluesky'])
  const main = (await world.context.accounts.findDefault(userId, 'bluesky'))!._id
  const further = (await addAccount(world.context, userId, { platform: 'bluesky', platformId: unique('further') }))._id
  async function call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object, more = {}) {
    const headers = { ...who.headers, ...more }
    const response = await world.app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }
  const setSlots = (slots: object[], more = {}) => call('PUT', '/api/slots', { slots }, more)
  const take = (fields: object = {}) =>
    call('POST', '/api/posts', {
      ...{ content: { text: 'News' }, selectedPlatforms: ['bluesky'], scheduledAt: 'next-slot' },
      ...fields,
    })
  return { who, userId, main, further, call, setSlots, take }
}

const plan = (target: object, times = DAILY) => ({ ...target, timezone: 'UTC', times })
/** The next slots of `DAILY` from now on. */
const next = (count: number) =>
  [...listSlots({ timezone: 'UTC', times: DAILY }, new Date())].slice(0, count).map((at) => at.toISOString())

describe('weekly slots', () => {
  it('slots of accounts and groups are replaced as a whole, and only as they were read', async () => {
    const { main, call, setSlots } = await newUser()
    const { id: groupId } = (await call('POST', '/api/groups', { name: 'North', accountIds: [main] })).body.data
    expect((await call('GET', '/api/slots')).body.data).toEqual({ slots: [], etag: '"0"' })
    const slots = [plan({ accountId: main }), plan({ groupId }, [DAILY[0]!])]
    const stored = await setSlots(slots, { 'if-match': '"0"' })
    expect([stored.status, stored.body.data]).toEqual([200, { slots, etag: '"1"' }])
    expect((await call('GET', '/api/slots')).body.data).toEqual(stored.body.data)
    expect((await setSlots([], { 'if-match': '"0"' })).body.code).toBe('PRECONDITION_FAILED')
    expect((await setSlots([])).body.data).toEqual({ slots: [], etag: '"2"' })
  })

  it.each<[string, (main: string) => object, string, string]>([
    ['another account', () => plan({ accountId: 'none' }), 'slots.0.accountId', 'ACCOUNT_NOT_FOUND'],
    ['another group', () => plan({ groupId: 'none' }), 'slots.0.groupId', 'GROUP_NOT_FOUND'],
    ['neither', () => plan({}), 'slots.0.accountId', 'REQUIRED'],
    ['both', (main) => plan({ accountId: main, groupId: 'none' }), 'slots.0.accountId', 'NOT_ALLOWED'],
    [
      'a time that no day has',
      (main) => plan({ accountId: main }, [{ day: 'monday', time: '24:00' }]),
      'slots.0.times.0.time',
      'INVALID',
    ],
  ])('slots of %s are refused', async (_, toPlan, path, code) => {
    const { main, setSlots } = await newUser()
    const { status, body } = await setSlots([toPlan(main)])
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ path, code })]])
  })

  it('slots end with their account and their group', async () => {
    const { main, further, call, setSlots } = await newUser()
    const { id: groupId } = (await call('POST', '/api/groups', { name: 'North' })).body.data
    await setSlots([plan({ accountId: main }), plan({ accountId: further }), plan({ groupId })])
    await call('DELETE', `/api/platform/accounts/${further}`)
    await call('DELETE', `/api/groups/${groupId}`)
    expect((await call('GET', '/api/slots')).body.data.slots).toEqual([plan({ accountId: main })])
  })
})

describe('the next slot', () => {
  it('posts take one slot after the other, and leave them when they are moved, cancelled or deleted', async () => {
    const { main, call, setSlots, take } = await newUser()
    await setSlots([plan({ accountId: main })])
    const [first, second, third, fourth] = next(4)
    const created = [await take(), await take(), await take()].map(({ body }) => body.data)
    expect(created.map(({ status, scheduledAt }) => [status, scheduledAt])).toEqual(
      [first, second, third].map((at) => ['SCHEDULED', at]),
    )
    const [one, two, three] = created.map(({ postId }) => postId)
    expect((await take()).body.data.scheduledAt).toBe(fourth)
    await call('PATCH', `/api/posts/${one}`, { scheduledAt: '2090-01-01T00:00:00Z' })
    await call('POST', `/api/posts/${two}/cancel`)
    await call('DELETE', `/api/posts/${three}`)
    const again = [await take(), await take(), await take()].map(({ body }) => body.data.scheduledAt)
    expect(again).toEqual([first, second, third])
  })

  it('a post that is scheduled for the time takes the slot of its account', async () => {
    const { main, setSlots, take } = await newUser()
    await setSlots([plan({ accountId: main })])
    const [first, second] = next(2)
    await take({ scheduledAt: first })
    expect((await take()).body.data.scheduledAt).toBe(second)
  })

  it('twenty concurrent posts take twenty slots', async () => {
    const { main, setSlots, take } = await newUser()
    await setSlots([plan({ accountId: main })])
    const taken = await Promise.all(Array.from({ length: 20 }, () => take()))
    expect(taken.map(({ status }) => status)).toEqual(Array(20).fill(201))
    const times: string[] = taken.map(({ body }) => body.data.scheduledAt)
    expect(times.toSorted()).toEqual(next(20))
  })

  it('a slot that another process takes meanwhile is left to it', async () => {
    const { main, setSlots, take } = await newUser()
    await setSlots([plan({ accountId: main })])
    const [first, second] = next(2)
    expect((await take()).body.data.scheduledAt).toBe(first)
    // What this process read before the other one stored its post.
    const find = vi.spyOn(world.context.posts, 'findTakenSlots').mockResolvedValueOnce(new Map())
    expect((await take()).body.data.scheduledAt).toBe(second)
    expect(find).toHaveBeenCalledTimes(2)
    find.mockRestore()
  })

  it('the slots of a group come before those of an account, and those before the default account', async () => {
    const { main, further, call, setSlots, take } = await newUser()
    const { id: groupId } = (await call('POST', '/api/groups', { name: 'North', accountIds: [further] })).body.data
    const daily = (time: string) => [{ day: 'monday', time }] as SlotTime[]
    await setSlots([
      plan({ accountId: main }, daily('01:00')),
      plan({ accountId: further }, daily('02:00')),
      plan({ groupId }, daily('03:00')),
    ])
    const hourOf = async (fields: object) => new Date((await take(fields)).body.data.scheduledAt).getUTCHours()
    expect(await hourOf({})).toBe(1)
    expect(await hourOf({ selectedAccounts: [further] })).toBe(2)
    expect(await hourOf({ selectedAccounts: [further], selectedGroups: ['north'] })).toBe(3)
  })

  it('a draft takes its slot when it is published', async () => {
    const { main, call, setSlots, take } = await newUser()
    await setSlots([plan({ accountId: main })])
    expect((await take({ status: 'DRAFT' })).body.errors).toMatchObject([{ code: 'SLOT_OF_DRAFT' }])
    const { postId } = (await take({ status: 'DRAFT', scheduledAt: null })).body.data
    const kept = await call('PATCH', `/api/posts/${postId}`, { scheduledAt: 'next-slot' })
    expect(kept.body.errors).toMatchObject([{ code: 'SLOT_OF_DRAFT' }])
    const published = await call('PATCH', `/api/posts/${postId}`, { scheduledAt: 'next-slot', status: 'SCHEDULED' })
    expect(published.status).toBe(200)
    const { post } = (await call('GET', `/api/posts/${postId}`)).body.data
    expect([post.status, post.scheduledAt]).toEqual(['SCHEDULED', next(1)[0]])
  })

  it('without slots the post is refused, and the check says so', async () => {
    const { call, take } = await newUser()
    expect((await take()).body.errors).toMatchObject([{ path: 'scheduledAt', code: 'NO_SLOTS' }])
    const body = { content: { text: 'x' }, selectedPlatforms: ['bluesky'], scheduledAt: 'next-slot' }
    expect((await call('POST', '/api/posts/validate', body)).body.data).toMatchObject({
      ...{ valid: false, errors: [{ path: 'scheduledAt', code: 'NO_SLOTS' }] },
    })
  })

  it('a repeat with the same idempotency key keeps its slot', async () => {
    const { main, call, setSlots } = await newUser()
    await setSlots([plan({ accountId: main })])
    const body = { content: { text: 'x' }, selectedPlatforms: ['bluesky'], scheduledAt: 'next-slot' }
    const send = () => call('POST', '/api/posts', body, { 'idempotency-key': 'one' })
    const answers = [await send(), await send()]
    expect(answers.map(({ status, body: { data } }) => [status, data.scheduledAt])).toEqual([
      [201, next(1)[0]],
      [200, next(1)[0]],
    ])
  })

  it('the rows of an import take slots', async () => {
    const { who, userId, main, setSlots } = await newUser()
    const client = importClient(world.app, { userId, headers: who.headers } as never)
    const row = { content: { text: 'One' }, selectedPlatforms: ['bluesky'], scheduledAt: 'next-slot' }
    const rows = [row, { ...row, content: { text: 'Two' } }]
    const refused = (await client.sendJson(rows)).body.data
    expect((await client.rows(refused.id)).map(({ errors }) => errors)).toMatchObject([
      [{ code: 'NO_SLOTS' }],
      [{ code: 'NO_SLOTS' }],
    ])
    await setSlots([plan({ accountId: main })])
    const { id, counts } = (await client.sendJson(rows)).body.data
    expect(counts).toMatchObject({ ready: 2 })
    await client.call('POST', `/api/imports/${id}/apply`)
    await applyAll(world.context, userId, id)
    const created = await client.rows(id)
    const times = await Promise.all(
      created.map(async ({ postId }) => (await world.context.posts.find(postId!))!.scheduledAt),
    )
    expect(times.map((at) => at!.toISOString()).toSorted()).toEqual(next(2))
  })
})

it('the slots of a range are listed with the posts that take them', async () => {
  const { main, further, call, setSlots, take } = await newUser()
  await setSlots([plan({ accountId: main }), plan({ accountId: further }, [DAILY[0]!])])
  const { postId, scheduledAt } = (await take()).body.data
  const [from, to] = [new Date().toISOString(), new Date(Date.now() + 14 * 86_400_000).toISOString()]
  const list = async (range: Record<string, string>) =>
    call('GET', `/api/slots/upcoming?${new URLSearchParams(range).toString()}`)
  const { data } = (await list({ from, to })).body
  expect(data).toHaveLength(6)
  expect(data.map(({ at }: { at: string }) => at)).toEqual(data.map(({ at }: { at: string }) => at).toSorted())
  expect(data.filter((slot: { postId: string | null }) => slot.postId !== null)).toEqual([
    { accountId: main, at: scheduledAt, postId },
  ])
  const late = await list({ from: '2090-01-01', to: '2090-03-01' })
  expect([late.status, late.body.errors[0]]).toEqual([400, expect.objectContaining({ path: 'to', code: 'TOO_LONG' })])
})
