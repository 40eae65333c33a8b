import { expect, it } from 'vitest'
import { newDelivery, platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform, options } from './each-platform.ts'
import { answeredByOthers } from './foreign-responses.ts'

onEveryPlatform((subject) => {
  const { world, refusals, post, image, prepare, commit, publish, failPublish, visible } = subject

  /** Publishes a post whose visible call gets this response, and returns the error. */
  async function refusedWith(action: Parameters<typeof failPublish>[0]) {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('refused')]
    await prepare(outgoing, account, delivery)
    await failPublish(action)
    const error = await platformErrorOf(commit(outgoing, account, delivery))
    expect(await visible(outgoing)).toEqual([])
    return error
  }

  it('a permanent refusal is certain and not retried', async () => {
    expect(await refusedWith(refusals.definite)).toMatchObject({ class: 'validation', certain: true })
  })

  it.each([
    ['/login.php?next=https%3A%2F%2Fexample.com', 302],
    ['https://www.example.com/accounts/login/', 301],
    ['/auth/sign_in', 303],
    ['https://login.example.com/', 307],
    ['/checkpoint/1501092823525282/', 302],
  ])(
    'a redirect to the login page %s is an ended login, which certainly published nothing',
    async (location, status) => {
      const action = { status, headers: { location } }
      const ended = { class: 'unauthorized', certain: true, answered: true }
      expect(await refusedWith(action)).toMatchObject(ended)
      const another = await post('redirected', [await image()])
      const account = await world().newAccount()
      await world().control.addFault({ action })
      expect(await platformErrorOf(prepare(another, account, newDelivery()))).toMatchObject(ended)
      await world().control.clearFaults()
    },
  )

  it('a redirect to another page decides nothing', async () => {
    const action = { status: 302, headers: { location: 'https://example.com/blogging-in-2026' } }
    expect(await refusedWith(action)).toMatchObject({ class: 'transient', certain: false })
  })

  it('a rate limit is certain and states the wait', async () => {
    expect(await refusedWith(refusals.limited)).toMatchObject({
      class: 'rate_limited',
      certain: true,
      retryAfterMs: 2_000,
    })
  })

  it.each([500, 502, 503, 504])('a %i leaves the outcome unknown', async (status) => {
    expect(await refusedWith({ status })).toMatchObject({ class: 'transient', certain: false })
  })

  it.each([
    ['an object without an id', {}],
    ['no JSON', 'OK'],
  ])('a success without a post leaves the outcome unknown: %s', async (_, body) => {
    expect(await refusedWith({ status: 200, body })).toMatchObject({ class: 'transient', certain: false })
  })

  it('the error of a refusal does not repeat the response', async () => {
    const { message } = await refusedWith({ status: 500, body: '<html>LEAK-ME-NOT' })
    expect(message).not.toContain('LEAK-ME-NOT')
    expect(message).not.toContain('<html>')
  })

  it('a server that cannot be reached has published nothing, with certainty', async () => {
    const gone = await subject.startAnother()
    try {
      const [account, delivery, outgoing] = [await gone.newAccount(), newDelivery(), await post('unreachable')]
      await gone.adapter.prepare(outgoing, account, delivery, options())
      await gone.stopServer()
      const error = await platformErrorOf(gone.adapter.publish(outgoing, account, delivery, options()))
      expect(error).toMatchObject({ class: 'transient', certain: true })
    } finally {
      await gone.close()
    }
  })

  it('a revoked login is reported by every operation, before and at the visible call', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('too late')]
    const { adapter, control } = world()
    await prepare(outgoing, account, delivery)
    await control.revoke(account.accountId)
    const ended = { class: 'unauthorized', certain: true }
    expect(await platformErrorOf(commit(outgoing, account, delivery))).toMatchObject(ended)
    const another = await post('too late', [await image()])
    expect(await platformErrorOf(publish(another, account))).toMatchObject(ended)
    expect(await platformErrorOf(adapter.profile(account, options()))).toMatchObject(ended)
    if (adapter.renew) expect(await platformErrorOf(adapter.renew(account, options()))).toMatchObject(ended)
    expect(await visible(outgoing)).toEqual([])
  })

  it('the profile of a connected account is read', async () => {
    const account = await world().newAccount()
    expect(await world().adapter.profile(account, options())).toMatchObject({
      handle: account.handle,
      displayName: expect.stringMatching(/./),
    })
    expect(account.handle).toMatch(/./)
  })

  answeredByOthers(async () => ({
    ...world(),
    account: await world().newAccount(),
    post: await post('answered by others', [await image()]),
  }))
})
