import { expect, it } from 'vitest'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { newDelivery } from '../shared/support.ts'
import { onEveryPlatform } from './each-platform.ts'

/** A delivery from a backup, which knows neither the call nor what it prepared. */
const restoredDelivery = () => newDelivery(new Date(Date.now() - MINUTE))
const isRestored = { isRestored: true }

onEveryPlatform((subject) => {
  const { world, post, publish, reconcile, image } = subject

  it('a restored delivery finds its post among others by the content', async () => {
    const account = await world().newAccount()
    const outgoing = await post('published before the disaster', [await image()])
    await publish(await post('before', outgoing.content.mediaItems), account)
    const { platformPostId } = await publish(outgoing, account)
    await publish(await post('after', outgoing.content.mediaItems), account)
    expect(await reconcile(outgoing, account, restoredDelivery(), isRestored)).toMatchObject({ platformPostId })
  })

  it('a restored delivery is absent when its account has only other posts', async () => {
    const account = await world().newAccount()
    for (let index = 0; index < 12; index++) await publish(await post('one of many'), account)
    expect(await reconcile(await post('one of many'), account, restoredDelivery(), isRestored)).toBe('absent')
  })

  it('a restored delivery never takes the post of another one', async () => {
    const [account, outgoing] = [await world().newAccount(), await post('a twin')]
    const { platformPostId } = await publish(outgoing, account)
    const isTaken = async (id: string) => id === platformPostId
    expect(await reconcile(outgoing, account, restoredDelivery(), { ...isRestored, isTaken })).toBe('absent')
  })

  it('a post with the words of a restored delivery in another form leaves it undecidable', async () => {
    const [account, outgoing] = [await world().newAccount(), await post('not quite the same')]
    const { text, mediaItems } = outgoing.content
    await publish({ ...outgoing, content: { text: `${text}!`, mediaItems } }, account)
    expect(await reconcile(outgoing, account, restoredDelivery(), isRestored)).toBe('undecidable')
  })

  it('a post without a text leaves a restored delivery undecidable', async () => {
    const account = await world().newAccount()
    const outgoing = { ...(await post('')), content: { text: '', mediaItems: [await image()] } }
    expect(await reconcile(outgoing, account, restoredDelivery(), isRestored)).toBe('absent')
    await publish(outgoing, account)
    expect(await reconcile(outgoing, account, restoredDelivery(), isRestored)).toBe('undecidable')
  })
})
