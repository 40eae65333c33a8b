import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { refreshCookieOf, signIn, type ApiWorld } from '../support/api.ts'
import { shared } from '../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

const refresh = (cookie: string) =>
  world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies: { refreshToken: cookie } })
const logOut = (cookie: string) =>
  world.app.inject({ method: 'DELETE', url: '/api/auth/logout', cookies: { refreshToken: cookie } })
const sessions = () =>
  world.context.database.connection.collection<{ _id: string; generation: number; tokenHash: string }>('sessions')

const garbage = () => randomBytes(32).toString('base64url')

describe('a refresh cookie', () => {
  it('a forged cookie costs no more work in a session that was refreshed a billion times', async () => {
    const { refreshCookie, sessionId } = await signIn(world.context)
    // Work per generation would block the process for an hour.
    await sessions().updateOne({ _id: sessionId }, { $set: { generation: 1e9 } })
    for (let count = 0; count < 20; count += 1) {
      expect((await refresh(`${sessionId}.${garbage()}`)).statusCode).toBe(401)
      expect((await logOut(`${sessionId}.${garbage()}`)).statusCode).toBe(200)
    }
    expect((await refresh(refreshCookie)).statusCode).toBe(200)
  })

  it('a cookie with the tag of another session or token ends no session', async () => {
    const [ann, eve] = [await signIn(world.context), await signIn(world.context)]
    const tokenOf = (cookie: string) => Buffer.from(cookie.split('.')[1]!, 'base64url')
    const [own, foreign] = [tokenOf(ann.refreshCookie), tokenOf(eve.refreshCookie)]
    const forged = [
      foreign,
      Buffer.concat([own.subarray(0, 16), foreign.subarray(16)]),
      Buffer.concat([foreign.subarray(0, 16), own.subarray(16)]),
      Buffer.concat([own.subarray(16), own.subarray(0, 16)]),
    ]
    for (const token of forged) {
      const cookie = `${ann.sessionId}.${token.toString('base64url')}`
      expect((await refresh(cookie)).statusCode).toBe(401)
      await logOut(cookie)
    }
    expect((await refresh(ann.refreshCookie)).statusCode).toBe(200)
  })

  it('a cookie of a version without tags still works, and its reuse ends no session', async () => {
    const { sessionId } = await signIn(world.context)
    const { hash } = world.context.refreshTokens
    const old = garbage()
    const spent = createHmac('sha256', 'any').update(old).digest('base64url')
    await sessions().updateOne({ _id: sessionId }, { $set: { tokenHash: hash(old), generation: 7 } })
    const answer = await refresh(`${sessionId}.${old}`)
    expect(answer.statusCode).toBe(200)
    expect(world.context.refreshTokens.wasIssued(sessionId, refreshCookieOf(answer)!.split('.')[1]!)).toBe(true)
    expect(refreshCookieOf(await refresh(`${sessionId}.${old}`))).toBe(refreshCookieOf(answer))
    expect((await refresh(`${sessionId}.${spent}`)).statusCode).toBe(401)
    expect((await refresh(refreshCookieOf(answer)!)).statusCode).toBe(200)
  })
})
