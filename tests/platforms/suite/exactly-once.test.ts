import { expect, it } from 'vitest'
import type { Published } from '../../../src/domain/posts/post.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { LOST_RESPONSES, LOST_CALLS, newDelivery, platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform } from './each-platform.ts'

onEveryPlatform((subject) => {
  const { world, post, prepare, commit, publish, reconcile, failPublish, visible } = subject

  it.each(LOST_RESPONSES)('one post results when the platform published it and %s', async (name, action) => {
    const [account, delivery] = [await world().newAccount(), newDelivery()]
    const outgoing = await post(`published, and ${name}`)
    await prepare(outgoing, account, delivery)
    await failPublish(action)
    const lost = await platformErrorOf(commit(outgoing, account, delivery))
    expect(lost).toMatchObject({ class: 'transient', certain: false })
    const [entry, ...others] = await visible(outgoing)
    expect(others).toEqual([])
    expect(await reconcile(outgoing, account, delivery)).toMatchObject({ platformPostId: entry!.id })
  })

  it.each(['status', 'statusAfterAccept'] as const)(
    "one post results when the platform's own 404 is the response to the visible call (%s)",
    async (answered) => {
      const [account, delivery] = [await world().newAccount(), newDelivery()]
      const outgoing = await post('not found?')
      await prepare(outgoing, account, delivery)
      await failPublish({ [answered]: 404, body: subject.notFound })
      const first = await commit(outgoing, account, delivery).catch((error: PlatformError) => error)
      const isThere = answered === 'statusAfterAccept'
      expect(await visible(outgoing)).toHaveLength(isThere ? 1 : 0)
      if (first instanceof PlatformError) {
        // Only what the adapter has read makes it certain that nothing was published.
        if (isThere) expect(first.certain).toBe(false)
        const found = first.certain ? 'absent' : await reconcile(outgoing, account, delivery)
        expect(found === 'absent').toBe(!isThere)
        if (found === 'absent') await publish(outgoing, account, { ...delivery, isRepeat: !first.certain })
      }
      expect(await visible(outgoing)).toHaveLength(1)
    },
  )

  it('a call that is repeated after a lost response makes no second post', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('repeated')]
    await prepare(outgoing, account, delivery)
    await failPublish({ dropAfterAccept: true })
    await platformErrorOf(commit(outgoing, account, delivery))
    const [entry] = await visible(outgoing)
    await prepare(outgoing, account, delivery)
    // The platform recognises the repeat and returns the post, or the adapter asks to reconcile.
    const repeat = await commit(outgoing, account, { ...delivery, isRepeat: true }).catch(
      (error: PlatformError) => error,
    )
    expect(repeat).toMatchObject(
      repeat instanceof PlatformError ? { class: 'duplicate' } : { platformPostId: entry!.id },
    )
    expect(await visible(outgoing)).toHaveLength(1)
    expect(await reconcile(outgoing, account, delivery)).toMatchObject({ platformPostId: entry!.id })
  })

  it.each(LOST_CALLS)('one post results when the call is lost: %s', async (name, action) => {
    const [account, delivery] = [await world().newAccount(), newDelivery()]
    const outgoing = await post(`not published: ${name}`)
    await prepare(outgoing, account, delivery)
    await failPublish(action)
    expect(await platformErrorOf(commit(outgoing, account, delivery))).toMatchObject({ certain: false })
    expect(await visible(outgoing)).toEqual([])
    expect(await reconcile(outgoing, account, delivery)).toBe('absent')
    await publish(outgoing, account, delivery)
    expect(await visible(outgoing)).toHaveLength(1)
  })

  it('a published post is found by its own delivery', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('found')]
    const published = await publish(outgoing, account, delivery)
    expect(await reconcile(outgoing, account, delivery)).toEqual(published)
    expect(await visible(outgoing)).toHaveLength(1)
  })

  it('each of two equal posts is found as its own', async () => {
    const account = await world().newAccount()
    const [outgoing, between] = [await post('twins'), await post('between the twins')]
    const deliveries = [newDelivery(), newDelivery()]
    for (const delivery of deliveries) {
      await prepare(outgoing, account, delivery)
      await failPublish({ dropAfterAccept: true })
      await platformErrorOf(commit(outgoing, account, delivery))
      // Facebook refuses the same text twice in a row.
      await publish(between, account).catch(() => undefined)
    }
    const first = (await reconcile(outgoing, account, deliveries[0]!)) as Published
    const isTaken = async (id: string) => id === first.platformPostId
    const second = (await reconcile(outgoing, account, deliveries[1]!, { isTaken })) as Published
    const ids = [first.platformPostId, second.platformPostId]
    expect(ids.toSorted()).toEqual((await visible(outgoing)).map(({ id }) => id).toSorted())
    expect(new Set(ids).size).toBe(2)
  })

  it('a post is found among many that its author wrote meanwhile', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('among many')]
    const write = async () => {
      for (let index = 0; index < 25; index++) await subject.publishElsewhere(account, `noise ${index}`)
    }
    await write()
    const published = await publish(outgoing, account, delivery)
    await write()
    expect(await reconcile(outgoing, account, delivery)).toEqual(published)
  })

  it('a search that the platform fails to answer decides nothing', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('searched')]
    await publish(outgoing, account, delivery)
    await world().control.addFault({ ...subject.calls.reconcile, times: 1, action: { status: 503 } })
    expect(await platformErrorOf(reconcile(outgoing, account, delivery))).toMatchObject({ class: 'transient' })
  })

  it('an attempt that is aborted before it begins publishes nothing, with certainty', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('never sent')]
    await prepare(outgoing, account, delivery)
    const requests = await subject.requestsDuring(async () => {
      const publishing = world().adapter.publish(outgoing, account, delivery, { signal: AbortSignal.abort() })
      expect(await platformErrorOf(publishing)).toMatchObject({ class: 'transient', certain: true })
    })
    expect(requests.filter(subject.isPublish)).toEqual([])
  })
})
