import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSession } from '../../../src/commands/users/open-session.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { connect, openPlain, TRANSPORTS, type Client } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

let world: RealtimeWorld
beforeAll(async () => {
  world = await realtimeWorld()
})
afterAll(() => world?.close())

/** Opens another session of the same user. */
async function logInAgain({ user }: SignedIn): Promise<string> {
  const { accessToken } = await openSession(world.context, user, { ipAddress: '127.0.0.1', userAgent: 'test' })
  return accessToken
}

const users = () => world.context.database.connection.collection<{ _id: string }>('users')
const change = ({ user }: SignedIn, fields: object) => users().updateOne({ _id: user._id }, { $set: fields })
const request = (method: 'DELETE' | 'PATCH', url: string, who: SignedIn) =>
  world.app.inject({ method, url, headers: who.headers })

const ENDS: Record<string, { by: (who: SignedIn) => Promise<unknown>; words: string }> = {
  'the account is disabled': { by: (who) => change(who, { isDisabled: true }), words: 'Account is disabled' },
  'the role of the account changes': {
    by: (who) => change(who, { role: 'admin' }),
    words: 'The rights of the account have changed. Connect again.',
  },
  'the user logs out': { by: (who) => request('DELETE', '/api/auth/logout', who), words: 'Unauthorized' },
  'the user logs out everywhere': {
    by: (who) => request('DELETE', '/api/auth/logout/all', who),
    words: 'Unauthorized',
  },
  'the account is erased': { by: ({ user }) => users().deleteOne({ _id: user._id }), words: 'Unauthorized' },
}

describe.each(TRANSPORTS)('a connection over %s', (transport) => {
  const listen = (token: string) => connect(world.address, transport, token)
  const expectOpen = async (who: SignedIn, client: Client) => {
    const next = client.next()
    const message = await world.notify(who)
    expect(await next).toMatchObject({ message })
  }

  it.each(Object.keys(ENDS))(
    'a connection is closed when %s, and connections of other users stay open',
    async (name) => {
      const { by, words } = ENDS[name]!
      const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
      const [hers, his] = [await listen(ann.accessToken), await listen(bob.accessToken)]
      await by(ann)
      expect(await hers.closed).toBe(words)
      await expectOpen(bob, his)
      his.close()
    },
  )

  it('a connection is closed when its session is removed, and those of other sessions stay open', async () => {
    const ann = await signIn(world.context)
    const [phone, laptop] = [await listen(ann.accessToken), await listen(await logInAgain(ann))]
    await request('DELETE', '/api/auth/logout', ann)
    expect(await phone.closed).toBe('Unauthorized')
    await expectOpen(ann, laptop)
    laptop.close()
  })

  it.each(['malformed', 'of another user', 'of an ended session'])(
    'a connection is closed by a new token that is %s',
    async (kind) => {
      const ann = await signIn(world.context)
      const client = await listen(ann.accessToken)
      const token = {
        malformed: async () => 'x',
        'of another user': async () => (await signIn(world.context)).accessToken,
        'of an ended session': async () => {
          const ended = await logInAgain(ann)
          const url = '/api/auth/logout'
          await world.app.inject({ method: 'DELETE', url, headers: { authorization: `Bearer ${ended}` } })
          return ended
        },
      }[kind]!
      await expect(client.refresh(await token())).rejects.toThrow()
      expect(await client.closed).toBe('Unauthorized')
    },
  )

  it('a connection renewed with a token of another session ends with that session, not with its first', async () => {
    const ann = await signIn(world.context)
    const client = await listen(ann.accessToken)
    const second = await logInAgain(ann)
    await client.refresh(second)
    await request('DELETE', '/api/auth/logout', ann)
    await expectOpen(ann, client)
    const headers = { authorization: `Bearer ${second}` }
    await world.app.inject({ method: 'DELETE', url: '/api/auth/logout', headers })
    expect(await client.closed).toBe('Unauthorized')
  })
})

describe('connections over every transport', () => {
  const listenAll = (address: string, token: string) =>
    Promise.all(TRANSPORTS.map((transport) => connect(address, transport, token)))

  it('connections are closed when their token expires, unless they were renewed', async () => {
    const world = await realtimeWorld()
    const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
    const [hers, his] = [
      await listenAll(world.address, ann.accessToken),
      await listenAll(world.address, bob.accessToken),
    ]
    await Promise.all(hers.map(async (client) => client.refresh(await world.tokenFor(ann, 3_600))))
    world.putForward(11 * MINUTE)
    expect(await Promise.all(his.map(({ closed }) => closed))).toEqual(TRANSPORTS.map(() => 'Unauthorized'))
    const next = hers.map((client) => client.next())
    await world.notify(ann)
    await Promise.all(next)
    expect(await world.figure('postonce_sockets_ended_total{reason="expired"}')).toBe(TRANSPORTS.length)
    await world.close()
  })

  it('connections get a message at shutdown and do not use up its time', async () => {
    const world = await realtimeWorld({ SHUTDOWN_GRACE_MS: 10 * MINUTE })
    const { accessToken } = await signIn(world.context)
    const clients = await listenAll(world.address, accessToken)
    // A paused client does not even receive the close message.
    const deaf = openPlain(world.address)
    await once(deaf, 'open')
    deaf.pause()
    await world.close()
    const words = await Promise.all(clients.map(({ closed }) => closed))
    expect(words).toEqual(TRANSPORTS.map(() => 'The service is restarting. Connect again.'))
  })
})
