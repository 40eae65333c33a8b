import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signIn, type ApiWorld } from '../support/api.ts'
import { shared } from '../support/shared-worlds.ts'

let world: ApiWorld
shared.beforeAll(({ api }) => void (world = api))

const refresh = (cookie: string) =>
  world.app.inject({ method: 'POST', url: '/api/auth/refresh', cookies: { refreshToken: cookie } })
const logOut = (cookie: string) =>
  world.app.inject({ method: 'DELETE', url: '/api/auth/logout', cookies: { refreshToken: cookie } })
const garbage = () => randomBytes(32).toString('base64url')

describe('a refresh cookie', () => {
  it('forged cookies end no session', async () => {
    const { refreshCookie, sessionId } = await signIn(world.context)
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
})
