import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_COUNTS, type PostCounts } from '../../../src/domain/analytics/analytics.ts'
import type { Credentials, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { options } from './containers-support.ts'
import { platformErrorOf, type controlOf } from './support.ts'

/** A host of the Graph API: its simulator, and an adapter for it. */
export interface MetricsWorld {
  adapter: Pick<PlatformAdapter, 'metrics' | 'followers'>
  control: ReturnType<typeof controlOf>
  newAccount(): Promise<Credentials>
  /** Publishes as the account's owner; returns the platform's id. */
  publish(account: Credentials): string
  stop(): Promise<void>
}

interface Suite {
  start(): Promise<MetricsWorld>
  /** The last path segment of the account's own posts. */
  listPath: string
  /** Part of the path of the first call. */
  countsPath: string
  /** Part of the path of the call that reads followers. */
  followersPath: string
}

/** An error response of the graph. */
export const refusal = (code: number, subcode?: number) => ({
  error: { message: `(#${code}) No`, type: 'OAuthException', code, ...(subcode && { error_subcode: subcode }) },
})
const MISSING = { status: 400, body: refusal(100, 33) }

export const counts = (known: Partial<PostCounts>): PostCounts => ({ ...NO_COUNTS, ...known })

export async function readOne({ adapter }: Pick<MetricsWorld, 'adapter'>, id: string, account: Credentials) {
  return (await adapter.metrics!.read([id], account, options())).get(id)
}

/** Calls controls that only hosts of the Graph API have. */
export async function setLag({ control }: { control: string }, lagMs: number): Promise<void> {
  const { status } = await fetch(`${control}/insights`, { method: 'POST', body: JSON.stringify({ lagMs }) })
  expect(status).toBe(200)
}

/** Tests that apply to all hosts of the Graph API. */
export function graphMetricsSuite({ start, listPath, countsPath, followersPath }: Suite): void {
  let world: MetricsWorld
  let account: Credentials

  beforeAll(async () => {
    world = await start()
    account = await world.newAccount()
  })
  afterAll(() => world?.stop())
  beforeEach(() => world.control.clearFaults())

  const read = (id: string, as = account) => readOne(world, id, as)
  const followers = (as = account) => world.adapter.followers!(as, options())
  const paths = async () => (await world.control.requests()).map(({ path }) => path)

  describe('a missing post', () => {
    it("a missing post is deleted once the login has read the account's posts", async () => {
      const [here, gone] = [world.publish(account), world.publish(account)]
      await world.control.deletePost(gone)
      const found = await world.adapter.metrics!.read([here, gone], account, options())
      expect(found.get(gone)).toBe('deleted')
      expect(found.get(here)).toMatchObject({ likes: 0 })
      expect((await paths()).at(-1)).toContain(`/${account.accountId}/${listPath}?`)
    })

    it('a missing post is not deleted when the login has ended', async () => {
      const one = await world.newAccount()
      const id = world.publish(one)
      // While the post is read, an ended login looks like a missing post.
      await world.control.addFault({ path: id, action: MISSING })
      await world.control.revoke(one.accountId)
      expect(await platformErrorOf(read(id, one))).toMatchObject({ class: 'unauthorized' })
    })

    it('a missing post is not deleted when the login sees nothing of the account', async () => {
      const id = world.publish(account)
      await world.control.addFault({ account: account.accountId, action: MISSING })
      expect(await platformErrorOf(read(id))).toMatchObject({ class: 'permission' })
    })

    it.each([
      ['trouble', { status: 500, body: refusal(2) }, 'transient'],
      ['a limit', { status: 400, body: refusal(4) }, 'rate_limited'],
      ['a page', { status: 200, body: '<html>' }, 'transient'],
    ])('a missing post is not deleted when the check gets %s', async (_, action, expected) => {
      const id = world.publish(account)
      await world.control.deletePost(id)
      await world.control.addFault({ path: `/${listPath}?`, action })
      expect(await platformErrorOf(read(id))).toMatchObject({ class: expected })
    })

    it('a missing post is not deleted after a 404 from a proxy', async () => {
      const id = world.publish(account)
      await world.control.addFault({ path: id, action: { status: 404, body: '<html>Not found</html>' } })
      expect(await platformErrorOf(read(id))).toMatchObject({ class: 'transient' })
    })

    it('a missing post is not deleted while the post itself exists', async () => {
      const id = world.publish(account)
      await world.control.addFault({ path: countsPath, times: 1, action: MISSING })
      expect(await read(id)).not.toBe('deleted')
    })
  })

  describe('a login', () => {
    it('a login that has expired is reported', async () => {
      const one = await world.newAccount()
      const id = world.publish(one)
      await world.control.expire(one.accountId)
      expect(await platformErrorOf(read(id, one))).toMatchObject({ class: 'unauthorized', certain: true })
      expect(await platformErrorOf(followers(one))).toMatchObject({ class: 'unauthorized', certain: true })
    })

    it('a login that may no longer see the account must be connected again', async () => {
      await world.control.addFault({ path: followersPath, times: 1, action: MISSING })
      expect(await platformErrorOf(followers())).toMatchObject({ class: 'permission', certain: true })
    })
  })

  describe('a rate limit', () => {
    const usage = JSON.stringify({ 1: [{ type: 'pages', estimated_time_to_regain_access: 19 }] })
    it.each<[string, { status: number; headers?: Record<string, string>; body: unknown }, number]>([
      ['429 with its wait', { status: 429, headers: { 'retry-after': '7' }, body: '' }, 7_000],
      ['a code, with the wait in minutes', usageLimit(usage), 19 * 60_000],
      ['a code without any', { status: 400, body: refusal(17) }, 15 * 60_000],
    ])('a rate limit is reported by %s', async (_, action, retryAfterMs) => {
      const id = world.publish(account)
      await world.control.addFault({ action })
      for (const ask of [() => read(id), () => followers()]) {
        expect(await platformErrorOf(ask())).toMatchObject({ class: 'rate_limited', retryAfterMs })
      }
    })
  })

  it('a list of something else is an error and not a count', async () => {
    const body = '{"data":[1,2]}'
    const id = world.publish(account)
    await world.control.addFault({ action: { status: 200, body } })
    for (const ask of [() => read(id), () => followers()]) {
      expect(await platformErrorOf(ask())).toMatchObject({ class: 'transient' })
    }
  })
}

function usageLimit(usage: string) {
  return { status: 400, headers: { 'x-business-use-case-usage': usage }, body: refusal(80_002) }
}
