import { expect, it } from 'vitest'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import type { Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, OutgoingPost } from '../../../src/platforms/contract.ts'
import { LOST_CALLS, LOST_RESPONSES, platformErrorOf } from '../shared/support.ts'
import { onEveryPlatform, options } from './each-platform.ts'

onEveryPlatform(
  ({ world, editMethod, refusals, post, image, publish, shown }) => {
    /** A published post with an image, and what it becomes. */
    async function newEdit(words: string) {
      const account = await world().newAccount()
      const before = await post(words, [await image('Described')])
      const published = await publish(before, account)
      const { content } = await post(`${words}, edited`)
      return { account, published, edited: { ...before, content: { ...before.content, text: content.text } } }
    }

    async function edit({ platformPostId }: Published, edited: OutgoingPost, account: Credentials): Promise<void> {
      await (
        await world().adapter.planEdit!(platformPostId, edited, account, options())
      )?.()
    }

    const failEdit = ({ platformPostId }: Published, action: FaultAction) =>
      world().control.addFault({ method: editMethod!, path: platformPostId, times: 1, action })

    it('an edit changes the text, and keeps the id and the media', async () => {
      const { account, published, edited } = await newEdit('first')
      await edit(published, edited, account)
      const { text } = edited.content
      expect(await shown(published)).toMatchObject({ text, edits: [text], media: [{ altText: 'Described' }] })
    })

    it('edits are made in their order, and one that is repeated is made once', async () => {
      const { account, published, edited } = await newEdit('twice')
      const again = { ...edited, content: { ...edited.content, text: `${edited.content.text} again` } }
      for (const one of [edited, edited, again, again]) await edit(published, one, account)
      expect((await shown(published))!.edits).toEqual([edited.content.text, again.content.text])
    })

    it.each(LOST_RESPONSES)('one edit results when the platform made it and %s', async (name, action) => {
      const { account, published, edited } = await newEdit(`edited, and ${name}`)
      await failEdit(published, action)
      expect(await platformErrorOf(edit(published, edited, account))).toMatchObject({
        class: 'transient',
        certain: false,
      })
      await edit(published, edited, account)
      expect((await shown(published))!.edits).toEqual([edited.content.text])
    })

    it.each(LOST_CALLS)('one edit results when the call is lost because %s', async (name, action) => {
      const { account, published, edited } = await newEdit(`lost, and ${name}`)
      await failEdit(published, action)
      expect(await platformErrorOf(edit(published, edited, account))).toMatchObject({
        class: 'transient',
        certain: false,
      })
      expect(await shown(published)).not.toHaveProperty('edits')
      await edit(published, edited, account)
      expect((await shown(published))!.edits).toEqual([edited.content.text])
    })

    it('a post that is gone cannot be edited', async () => {
      const { account, published, edited } = await newEdit('gone')
      await world().control.deletePost(published.platformPostId)
      const error = await platformErrorOf(edit(published, edited, account))
      expect(error).toMatchObject({ class: 'not_found', certain: true })
    })

    it('an edit that is refused changes nothing', async () => {
      const { account, published, edited } = await newEdit('refused')
      await failEdit(published, refusals.definite)
      const error = await platformErrorOf(edit(published, edited, account))
      expect(error).toMatchObject({ class: 'validation', certain: true })
      expect(await shown(published)).not.toHaveProperty('edits')
    })
  },
  ({ editable }) => editable,
)
