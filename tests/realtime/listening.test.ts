import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../support/api.ts'
import { connect, TRANSPORTS } from './clients.ts'
import { realtimeWorld, type RealtimeWorld } from './world.ts'

let world: RealtimeWorld
beforeAll(async () => {
  world = await realtimeWorld()
})
afterAll(() => world?.close())

describe.each(TRANSPORTS)('over %s', (transport) => {
  it('a user hears of the own notifications at once, as the list shows them, and nobody else does', async () => {
    const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
    const hers = await connect(world.address, transport, ann.accessToken)
    const his = await connect(world.address, transport, bob.accessToken)
    const coming = hers.next()
    const message = await world.happen(ann)
    expect(await coming).toMatchObject({ message, userId: ann.user._id })
    const { data } = (await world.app.inject({ url: '/api/notifications', headers: ann.headers })).json()
    expect(hers.received).toEqual(data.notifications)

    const comingToo = his.next()
    await world.happen(bob)
    await comingToo
    expect(his.received.map(({ userId }) => userId)).toEqual([bob.user._id])
    expect(hers.received).toHaveLength(1)
    for (const client of [hers, his]) client.close()
  })
})
