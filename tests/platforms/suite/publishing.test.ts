import { expect, it } from 'vitest'
import type { LoggedRequest } from '../../../sandbox/platforms/proxied-platform.ts'
import { newDelivery, platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform, options } from './each-platform.ts'

const writes = (requests: LoggedRequest[]) => requests.filter(({ method }) => method !== 'GET')
const kindsOf = (media: { type: string }[]) => media.map(({ type }) => type.split('/')[0])

onEveryPlatform((subject) => {
  const { rules, world, post, image, video, prepare, commit, publish, visible, shown, requestsDuring } = subject

  it('a post is invisible until it is published, and then has a public URL', async () => {
    const [account, delivery] = [await world().newAccount(), newDelivery()]
    const outgoing = await post('hidden, then seen', [await image()])
    const before = (await world().control.ledger()).length
    await prepare(outgoing, account, delivery)
    expect(await world().control.ledger()).toHaveLength(before)
    const { platformPostId, platformPostUrl } = await commit(outgoing, account, delivery)
    expect(await world().control.ledger()).toHaveLength(before + 1)
    expect(await visible(outgoing)).toMatchObject([{ id: platformPostId, media: [{}] }])
    const { hostname, href } = new URL(platformPostUrl)
    // Bluesky's pages are on a server that the sandbox has not.
    if (hostname === '127.0.0.1') expect((await fetch(href)).status).toBe(200)
  })

  it('a prepared post is published by a single call', async () => {
    const [account, delivery, outgoing] = [await world().newAccount(), newDelivery(), await post('one call')]
    await prepare(outgoing, account, delivery)
    const { urlCall } = world()
    const requests = await requestsDuring(() => commit(outgoing, account, delivery))
    const isUrlCall = (path: string) => urlCall !== undefined && path.includes(urlCall)
    expect(requests.filter(({ path }) => !isUrlCall(path)).map(subject.isPublish)).toEqual([true])
  })

  it('a post is prepared once, however often preparation runs', async () => {
    const [account, delivery] = [await world().newAccount(), newDelivery()]
    const outgoing = await post('prepared again', [await image(), await image()])
    await prepare(outgoing, account, delivery)
    const opened = subject.opened().length
    expect(writes(await requestsDuring(() => prepare(outgoing, account, delivery)))).toEqual([])
    await publish(outgoing, account, delivery)
    expect(await visible(outgoing)).toMatchObject([{ media: [{}, {}] }])
    expect(subject.opened()).toHaveLength(opened)
  })

  it('an interrupted preparation continues after its last saved step', async () => {
    const account = await world().newAccount()
    const twoImages = async (words: string) => post(words, [await image(), await image()])
    const whole = await twoImages('not interrupted')
    const needed = writes(await requestsDuring(() => prepare(whole, account, newDelivery()))).length
    const [outgoing, delivery] = [await twoImages('interrupted'), newDelivery()]
    const interrupted = {
      ...delivery,
      async save(name: string, value: string) {
        await delivery.save(name, value)
        await world().control.addFault({ method: 'POST', times: 1, action: { status: 503 } })
      },
    }
    const requests = await requestsDuring(async () => {
      // A platform that needs one call for everything is not interrupted.
      await prepare(outgoing, account, interrupted).catch((error: unknown) =>
        expect(error).toMatchObject({ class: 'transient' }),
      )
      await world().control.clearFaults()
      await prepare(outgoing, account, delivery)
    })
    expect(writes(requests).length).toBeLessThanOrEqual(needed + 1)
    await commit(outgoing, account, delivery)
    expect(await visible(outgoing)).toMatchObject([{ media: [{}, {}] }])
  })

  it.runIf(rules.removable)('a published post is removed, also when it is gone', async () => {
    const account = await world().newAccount()
    const outgoing = await post('removed again')
    const { platformPostId } = await publish(outgoing, account)
    for (let times = 0; times < 2; times++) {
      await world().adapter.remove!(platformPostId, account, options())
      expect(await visible(outgoing)).toEqual([])
    }
  })

  it('a platform whose posts no program can remove says so in its rules', () => {
    expect(world().adapter.remove !== undefined).toBe(rules.removable)
  })

  it('a platform whose posts no program can edit says so in its rules', () => {
    expect(world().adapter.planEdit !== undefined).toBe(rules.editable)
  })

  it('an unprepared post with media is not published', async () => {
    const [account, outgoing] = [await world().newAccount(), await post('unprepared', [await image()])]
    const requests = await requestsDuring(async () =>
      expect(await platformErrorOf(commit(outgoing, account, newDelivery()))).toMatchObject({
        class: 'media_not_ready',
        certain: true,
      }),
    )
    expect(requests.filter(subject.isPublish)).toEqual([])
  })

  it('a text as long as the platform allows is published, and a longer one is refused', async () => {
    const account = await world().newAccount()
    const [{ max }] = rules.text
    const ofLength = async (length: number) => {
      const { content, ...outgoing } = await post('')
      return { ...outgoing, content: { ...content, text: 'x'.repeat(length) } }
    }
    const published = await publish(await ofLength(max), account)
    expect((await shown(published))!.text.replaceAll('\n', '')).toHaveLength(max)
    const before = (await world().control.ledger()).length
    const refused = await platformErrorOf(publish(await ofLength(max + 1), account))
    expect(refused).toMatchObject({ class: 'validation', certain: true })
    expect(await world().control.ledger()).toHaveLength(before)
  })

  it.each(['jpeg', 'png', 'webp'] as const)('an image of type %s is published', async (type) => {
    const outgoing = await post(`a ${type}`, [await image('Shown', type)])
    const published = await publish(outgoing, await world().newAccount())
    expect((await shown(published))!.media).toMatchObject([
      { type: expect.stringMatching('^image/'), altText: 'Shown' },
    ])
  })

  it('a video is published after its processing', async () => {
    const outgoing = await post('a film', [await video()])
    await publish(outgoing, await world().newAccount())
    await expect
      .poll(async () => (await visible(outgoing)).map(({ media }) => kindsOf(media)), { timeout: 20_000 })
      .toEqual([['video']])
  })

  it('several images are published in their order with their descriptions', async () => {
    const items = [await image('First', 'png'), await image(undefined, 'webp'), await image('Third')]
    const published = await publish(await post('three', items), await world().newAccount())
    expect((await shown(published))!.media.map(({ altText }) => altText)).toEqual(['First', '', 'Third'])
  })

  it('a description that is too long is cut', async () => {
    const longest = rules.altText.image!
    const published = await publish(
      await post('described', [await image('ü'.repeat(longest + 500))]),
      await world().newAccount(),
    )
    const lengths = (await shown(published))!.media.map(({ altText }) => [...altText].length)
    expect(lengths).toEqual([longest])
  })

  it('media that the platform does not accept in one post are refused before any is sent', async () => {
    const account = await world().newAccount()
    const { media } = rules
    const many = async (count: number, item: typeof image) => Promise.all(Array.from({ length: count }, () => item()))
    const refused = [await many(media.image.max + 1, image), await many(media.video.max + 1, video)]
    if (!media.mix) refused.push([await image(), await video()])
    if (media.required) refused.push([])
    for (const items of refused) {
      const outgoing = await post('refused', items)
      const requests = await requestsDuring(async () =>
        expect(await platformErrorOf(publish(outgoing, account))).toMatchObject({ class: 'validation', certain: true }),
      )
      expect(writes(requests)).toEqual([])
      for (const { storageKey } of items) expect(subject.opened()).not.toContain(storageKey)
    }
  })

  it('no URL of a call that writes contains a token', async () => {
    const [account, delivery] = [await world().newAccount(), newDelivery()]
    const outgoing = await post('no token', [await image()])
    const requests = writes(await requestsDuring(() => publish(outgoing, account, delivery)))
    const secrets = [account.accessToken, account.tokenSecret, account.refreshToken].filter((one) => one !== undefined)
    expect(requests.length).toBeGreaterThan(1)
    for (const { path } of requests) for (const secret of secrets) expect(path).not.toContain(secret)
  })
})
