import { expect, it } from 'vitest'
import type { Published } from '../../../src/domain/posts/post.ts'
import { MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost } from '../../../src/platforms/contract.ts'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import { newDelivery, platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform } from './each-platform.ts'

/** How long after its start an unanswered call of a part may still take effect, milliseconds (docs/design/exactly-once.md). */
const SETTLE_MS: Partial<Record<Platform, number>> = {
  bluesky: 0,
  facebook: 10 * MINUTE,
  instagram: 10 * MINUTE,
  mastodon: 30 * SECOND,
  threads: 30 * SECOND,
}

onEveryPlatform(
  (subject) => {
    const { platform, rules, world, post, prepare, commit, publish, reconcile } = subject
    const isComment = rules.thread.firstComment === 'comment'
    const publishCall = isComment ? { method: 'POST', path: '/comments' } : subject.calls.publish
    const failPart = (action: FaultAction) => world().control.addFault({ ...publishCall, times: 1, action })

    /** A part below a post, a comment where the platform has no replies. */
    async function partBelow(root: Published, words: string, parent = root): Promise<OutgoingPost> {
      const replyTo = { rootId: root.platformPostId, parentId: parent.platformPostId }
      return { ...(await post(words, [])), kind: isComment ? 'comment' : 'post', replyTo }
    }

    /** A new account with a published post. */
    async function newThread() {
      const account = await world().newAccount()
      return { account, root: await publish(await post('the first part'), account) }
    }

    const shownBelow = async ({ content }: OutgoingPost, parent: Published) =>
      (await subject.visible({ content } as OutgoingPost)).filter(({ replyTo }) => replyTo === parent.platformPostId)

    async function loseResponse(part: OutgoingPost, account: Credentials, delivery: DeliveryCheckpoints) {
      await prepare(part, account, delivery)
      await failPart({ dropAfterAccept: true })
      expect(await platformErrorOf(commit(part, account, delivery))).toMatchObject({ certain: false })
    }

    it('a part is invisible until it is published, and then below its parent with a public URL', async () => {
      const { account, root } = await newThread()
      const [part, delivery] = [await partBelow(root, 'below it'), newDelivery()]
      await prepare(part, account, delivery)
      expect(await subject.visible(part)).toEqual([])
      const published = await commit(part, account, delivery)
      expect(await subject.visible(part)).toMatchObject([
        { id: published.platformPostId, replyTo: root.platformPostId },
      ])
      const { hostname, href } = new URL(published.platformPostUrl)
      if (hostname === '127.0.0.1') expect((await fetch(href)).status).toBe(200)
      expect(await reconcile(part, account, delivery)).toEqual(published)
    })

    it.skipIf(isComment)('a thread and its comment are a chain of replies', async () => {
      const { account, root } = await newThread()
      const second = await publish(await partBelow(root, 'second'), account)
      const comment: OutgoingPost = { ...(await partBelow(root, 'comment', second)), kind: 'comment' }
      const third = await publish(comment, account)
      expect(await subject.shown(second)).toMatchObject({ replyTo: root.platformPostId })
      expect(await subject.shown(third)).toMatchObject({ replyTo: second.platformPostId })
    })

    it('a part whose response is lost is found again', async () => {
      const { account, root } = await newThread()
      const [part, delivery] = [await partBelow(root, 'lost response'), newDelivery()]
      await loseResponse(part, account, delivery)
      const [entry, ...others] = await subject.visible(part)
      expect(others).toEqual([])
      expect(await reconcile(part, account, delivery)).toMatchObject({ platformPostId: entry!.id })
    })

    it('two equal parts below different posts are not confused', async () => {
      const { account, root } = await newThread()
      const parents = [root, await publish(await post('another first part'), account)]
      const words = (await partBelow(root, 'equal')).content
      const parts = await Promise.all(parents.map(async (one) => ({ ...(await partBelow(one, '')), content: words })))
      const deliveries = [newDelivery(), newDelivery()]
      for (const [index, part] of parts.entries()) await loseResponse(part, account, deliveries[index]!)
      for (const [index, parent] of parents.entries()) {
        const [entry] = await shownBelow(parts[index]!, parent)
        const found = await reconcile(parts[index]!, account, deliveries[index]!)
        expect(found).toMatchObject({ platformPostId: entry!.id })
      }
    })

    it('each of two equal parts below one post is found as its own', async () => {
      const { account, root } = await newThread()
      const part = await partBelow(root, 'twins')
      const deliveries = [newDelivery(), newDelivery()]
      for (const delivery of deliveries) await loseResponse(part, account, delivery)
      const first = (await reconcile(part, account, deliveries[0]!)) as Published
      const isTaken = async (id: string) => id === first.platformPostId
      const second = (await reconcile(part, account, deliveries[1]!, { isTaken })) as Published
      const ids = (await subject.visible(part)).map(({ id }) => id)
      expect([first.platformPostId, second.platformPostId].toSorted()).toEqual(ids.toSorted())
    })

    it('a lost call is absent only when it can no longer take effect, and is then repeated once', async () => {
      const { account, root } = await newThread()
      const [part, delivery] = [await partBelow(root, 'lost call'), newDelivery()]
      await prepare(part, account, delivery)
      await failPart({ cut: true })
      expect(await platformErrorOf(commit(part, account, delivery))).toMatchObject({ certain: false })
      const settleMs = SETTLE_MS[platform]!
      const findAfter = (ms: number) =>
        reconcile(part, account, delivery, { calledAt: new Date(Date.now() - ms), wasAnswered: false })
      if (settleMs > 0) expect(await findAfter(settleMs - 10 * SECOND)).toBe('in-flight')
      expect(await findAfter(settleMs + SECOND)).toBe('absent')
      await publish(part, account, { ...delivery, isRepeat: true })
      expect(await subject.visible(part)).toHaveLength(1)
    })

    it('a part whose parent is deleted fails for certain before it is published', async () => {
      const { account, root } = await newThread()
      await world().control.deletePost(root.platformPostId)
      const part = await partBelow(root, 'orphan')
      const refused = await platformErrorOf(publish(part, account))
      expect(refused).toMatchObject({
        class: 'validation',
        certain: true,
        message: expect.stringContaining('no longer on'),
      })
      expect(await subject.visible(part)).toEqual([])
    })

    // Bluesky publishes replies to deleted posts.
    it.skipIf(platform === 'bluesky')(
      'a part whose parent is deleted after its preparation fails for certain',
      async () => {
        const { account, root } = await newThread()
        const [part, delivery] = [await partBelow(root, 'orphan at the last moment'), newDelivery()]
        await prepare(part, account, delivery)
        await world().control.deletePost(root.platformPostId)
        const refused = await platformErrorOf(commit(part, account, delivery))
        if (!refused.certain) expect(await reconcile(part, account, delivery)).toBe('absent')
        const final = refused.class === 'validation' ? refused : await platformErrorOf(prepare(part, account, delivery))
        expect(final).toMatchObject({ class: 'validation', certain: true })
        expect(await subject.visible(part)).toEqual([])
      },
    )
  },
  ({ thread }) => thread.firstComment !== 'none',
)

onEveryPlatform(
  (subject) => {
    const { world, post, prepare, commit, publish, reconcile } = subject
    const isLost = { calledAt: new Date(Date.now() - 11 * MINUTE), wasAnswered: false }

    async function newComment(account: Credentials) {
      const { platformPostId: id } = await publish(await post('commented'), account)
      const replyTo = { rootId: id, parentId: id }
      const comment: OutgoingPost = { ...(await post('a comment', [])), kind: 'comment', replyTo }
      const delivery = newDelivery()
      await prepare(comment, account, delivery)
      return { id, comment, delivery }
    }

    it('a missing permission is a certain refusal that names it and the login to renew', async () => {
      const account = await world().newAccountWithout!(world().commentScope!)
      const { comment, delivery } = await newComment(account)
      const refused = await platformErrorOf(commit(comment, account, delivery))
      expect(refused).toMatchObject({ class: 'permission', certain: true, needsReconnection: true })
      expect(refused.message).toContain(world().commentScope)
      expect(refused.message).toContain('Connect Facebook again')
      expect(await subject.visible(comment)).toEqual([])
    })

    it('a comment that is too long is refused before any call', async () => {
      const account = await world().newAccount()
      const { comment } = await newComment(account)
      const content = { text: 'x'.repeat(subject.rules.thread.commentLength! + 1), mediaItems: [] }
      const requests = await subject.requestsDuring(async () => {
        const preparing = prepare({ ...comment, content }, account, newDelivery())
        expect(await platformErrorOf(preparing)).toMatchObject({ class: 'validation', certain: true })
      })
      expect(requests).toEqual([])
    })

    it('a comment makes one visible call, and neither drafts nor containers', async () => {
      const account = await world().newAccount()
      const { id, comment, delivery } = await newComment(account)
      const requests = await subject.requestsDuring(() => commit(comment, account, delivery))
      const writes = requests.filter(({ method }) => method !== 'GET')
      expect(writes.map(({ path }) => path)).toEqual([expect.stringContaining(`/${id}/comments`)])
      expect(delivery.handles.size).toBe(0)
    })

    it("another person's comment with other words is not taken, and leaves a lost call absent", async () => {
      const account = await world().newAccount()
      const { id, comment, delivery } = await newComment(account)
      world().commentElsewhere!(id, 'another person', 'First!')
      expect(await reconcile(comment, account, delivery, isLost)).toBe('absent')
    })

    it("another person's comment with the same words is never taken", async () => {
      const account = await world().newAccount()
      const { id, comment, delivery } = await newComment(account)
      world().commentElsewhere!(id, 'another person', comment.content.text)
      const found = await reconcile(comment, account, delivery, isLost)
      // On Instagram the account may have another name by now.
      expect(found).toBe(subject.platform === 'facebook' ? 'absent' : 'undecidable')
    })

    it('an own comment with other words may be the comment after an edit, which leaves a lost call undecidable', async () => {
      const account = await world().newAccount()
      const { id, comment, delivery } = await newComment(account)
      world().commentElsewhere!(id, account.accountId, 'edited')
      expect(await reconcile(comment, account, delivery, isLost)).toBe('undecidable')
    })

    it('a comment below a post with too many comments is undecidable', async () => {
      const account = await world().newAccount()
      const { id, comment, delivery } = await newComment(account)
      for (let index = 0; index < 401; index++) world().commentElsewhere!(id, 'another person', `noise ${index}`)
      expect(await reconcile(comment, account, delivery, isLost)).toBe('undecidable')
    })

    it("a comment is published once when the platform's 404 is the response to its call", async () => {
      const account = await world().newAccount()
      const { comment, delivery } = await newComment(account)
      const action = { statusAfterAccept: 404, body: subject.notFound }
      await world().control.addFault({ method: 'POST', path: '/comments', times: 1, action })
      expect(await platformErrorOf(commit(comment, account, delivery))).toMatchObject({ certain: false })
      const [entry] = await subject.visible(comment)
      expect(await reconcile(comment, account, delivery)).toMatchObject({ platformPostId: entry!.id })
    })
  },
  ({ thread }) => thread.firstComment === 'comment',
)
