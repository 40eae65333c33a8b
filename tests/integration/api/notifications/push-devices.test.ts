import { describe, expect, it } from 'vitest'
import { registerPushDevice } from '../../../../src/commands/notifications/push-devices.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

const send = ({ headers }: SignedIn, method: 'POST' | 'DELETE', url: string, payload?: object) =>
  world.app.inject({ method, url, headers, ...(payload && { payload }) })
const register = (who: SignedIn, token: string, platform = 'ios') =>
  send(who, 'POST', '/api/notifications/devices', { token, platform })
const remove = (who: SignedIn, token: string) =>
  send(who, 'DELETE', `/api/notifications/devices/${encodeURIComponent(token)}`)
const devicesOf = ({ user }: SignedIn) => world.context.pushTokens.listOf(user._id)
/** The token format of Firebase. */
const newToken = () => `${unique('c')}:APA91b${'x'.repeat(140)}-_`

describe('a push device', () => {
  it('a device is registered once, however often it is sent, and no response contains its token', async () => {
    const who = await signIn(world.context)
    const token = newToken()
    const answers = await Promise.all([register(who, token), register(who, token, 'android'), register(who, token)])
    for (const answer of answers) {
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ success: true, message: 'Device registered' })
    }
    expect(await devicesOf(who)).toHaveLength(1)
  })

  it('older frontends register a device as a browser', async () => {
    const who = await signIn(world.context)
    expect((await send(who, 'POST', '/api/firebase/save-token', { token: newToken() })).statusCode).toBe(200)
    expect(await devicesOf(who)).toMatchObject([{ platform: 'web' }])
  })

  it('a device belongs to the last user who registered it', async () => {
    const [before, after] = [await signIn(world.context), await signIn(world.context)]
    const token = newToken()
    await register(before, token)
    await register(after, token)
    expect(await devicesOf(before)).toEqual([])
    expect(await devicesOf(after)).toHaveLength(1)
    expect((await remove(before, token)).statusCode).toBe(404)
    expect((await remove(after, token)).statusCode).toBe(200)
    expect(await devicesOf(after)).toEqual([])
  })

  it('a token may have any characters that a path must encode', async () => {
    const who = await signIn(world.context)
    const token = `a/b?c#d%2Fe:${'%'.repeat(600)}`
    expect((await register(who, token)).statusCode).toBe(200)
    expect((await remove(who, token)).statusCode).toBe(200)
  })

  it.each([
    [{ token: '', platform: 'ios' }],
    [{ token: 'x'.repeat(1_025), platform: 'ios' }],
    [{ token: 'two words', platform: 'ios' }],
    [{ token: { $ne: null }, platform: 'ios' }],
    [{ token: 'x', platform: 'windows' }],
    [{ token: 'x' }],
    [{}],
  ])('the device %j is rejected', async (body) => {
    const who = await signIn(world.context)
    const answer = await send(who, 'POST', '/api/notifications/devices', body)
    expect(answer.statusCode).toBe(400)
    expect(await devicesOf(who)).toEqual([])
  })

  it('the least recently seen device is removed when a user has too many', async () => {
    const who = await signIn(world.context)
    const tokens = Array.from({ length: 22 }, newToken)
    for (const token of tokens) await register(who, token)
    expect(await devicesOf(who)).toHaveLength(20)
    expect((await remove(who, tokens[0]!)).statusCode).toBe(404)
    expect((await remove(who, tokens.at(-1)!)).statusCode).toBe(200)
  })

  it('a device survives a logout and is removed by a logout everywhere', async () => {
    const who = await signIn(world.context)
    await register(who, newToken())
    await send(await signIn(world.context), 'DELETE', '/api/auth/logout/all')
    await send(who, 'DELETE', '/api/auth/logout')
    expect(await devicesOf(who)).toHaveLength(1)
    const { user } = who
    const again = await signIn(world.context)
    await registerPushDevice(world.context, { userId: again.user._id, token: newToken(), platform: 'ios' })
    await send(again, 'DELETE', '/api/auth/logout/all')
    expect(await devicesOf(again)).toEqual([])
    expect(await world.context.pushTokens.listOf(user._id)).toHaveLength(1)
  })
})

it('the users with devices are read from the index only', async () => {
  const { database } = world.context
  const plan = await database.connection.db!.command({
    explain: { distinct: 'pushDevices', key: 'userId', query: { userId: { $in: [newId(), newId()] } } },
    verbosity: 'executionStats',
  })
  expect(JSON.stringify(plan)).toContain('DISTINCT_SCAN')
  expect(plan['executionStats'].totalDocsExamined).toBe(0)
})
