import { expect, it } from 'vitest'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform, options } from './each-platform.ts'

onEveryPlatform((subject) => {
  const { world, refusals, post, publish } = subject

  const read = (ids: string[], account: Credentials) => world().adapter.metrics!.read(ids, account, options())
  const followers = (account: Credentials) => world().adapter.followers!(account, options())

  /** An account with published posts. */
  async function withPosts(count: number) {
    const account = await world().newAccount()
    const ids: string[] = []
    for (let index = 0; index < count; index++) {
      ids.push((await publish(await post(`counted ${index}`), account)).platformPostId)
    }
    return { account, ids }
  }

  it('the counts of a post are those of the platform', async () => {
    const { account, ids } = await withPosts(2)
    await world().control.setMetrics(ids[0]!, { likes: 5, comments: 3 })
    const counts = await read(ids, account)
    expect(counts.get(ids[0]!)).toMatchObject({ likes: 5, comments: 3 })
    expect(counts.get(ids[1]!)).toMatchObject({ likes: 0, comments: 0 })
  })

  it('a deleted post is reported as deleted, and the others have their counts', async () => {
    const { account, ids } = await withPosts(2)
    await world().control.deletePost(ids[0]!)
    const counts = await read(ids, account)
    expect(counts.get(ids[0]!)).toBe('deleted')
    expect(counts.get(ids[1]!)).toMatchObject({ likes: 0 })
  })

  it('the follower count is that of the account', async () => {
    const account = await world().newAccount()
    expect(await followers(account)).toBe(0)
    await world().control.setAccountMetrics(account.accountId, { followers: 7 })
    expect(await followers(account)).toBe(7)
  })

  it('a revoked login is reported as such and never as deleted posts', async () => {
    const { account, ids } = await withPosts(2)
    await world().control.revoke(account.accountId)
    for (const ask of [() => read(ids, account), () => read([ids[0]!], account), () => followers(account)]) {
      expect(await platformErrorOf(ask())).toMatchObject({ class: 'unauthorized', certain: true })
    }
  })

  it.each<[string, FaultAction, object]>([
    ['a rate limit', refusals.limited, { class: 'rate_limited', retryAfterMs: 2_000 }],
    ['a server error', { status: 503 }, { class: 'transient' }],
    ['a page', { status: 200, body: '<html>Welcome</html>' }, { class: 'transient' }],
    ['an object of another shape', { status: 200, body: {} }, { class: 'transient' }],
    ['an empty response', { status: 200, body: '' }, { class: 'transient' }],
    ['a response that is cut off', { truncate: true }, { class: 'transient' }],
  ])('%s is reported as an error and never as a count', async (_, action, expected) => {
    const { account, ids } = await withPosts(2)
    await world().control.addFault({ method: 'GET', action })
    for (const ask of [() => read(ids, account), () => followers(account)]) {
      expect(await platformErrorOf(ask())).toMatchObject(expected)
    }
  })
})
