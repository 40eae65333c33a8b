import { afterAll, beforeAll, expect, it } from 'vitest'
import { marked } from '../../faults/judge/evidence.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { judgedWorld } from '../../support/judged-world.ts'
import { unique } from '../../support/servers.ts'

// Runs the judge on the real service: normal work must keep every invariant.

let world: DeliveryWorld
beforeAll(async () => void (world = await startDeliveryWorld()))
afterAll(() => world?.stop())

it('the judge reports nothing for normal work, and reports a duplicate record', async () => {
  const judged = judgedWorld(world)
  const user = await judged.user()
  const platforms = ['bluesky' as const]
  const idOf = (answer: { body: unknown } | null) => (answer!.body as { data: { postId: string } }).data.postId
  const create = async (changes: object) =>
    idOf(await user.posts.create({ text: marked(unique('post'), 'hello'), platforms, ...changes }))

  const now = await create({})
  const twins = [await create({ text: 'the same' }), await create({ text: 'the same' })]
  const repeated = { text: 'once', idempotencyKey: unique('key') }
  expect(await create(repeated)).toBe(await create(repeated))
  const later = await create({ text: '[later] hello', scheduledAt: Date.now() + 5_000 })
  await user.posts.edit(later, { text: '[later] edited', scheduledAt: Date.now() + 2_000 })
  const cancelled = await create({ scheduledAt: Date.now() + 3_600_000 })
  await user.posts.cancel(cancelled)
  await user.posts.delete(await create({ scheduledAt: Date.now() + 3_600_000 }))
  const draft = await create({ text: '[draft] words', status: 'DRAFT' })
  await user.posts.edit(draft, { status: 'PENDING' })
  await create({ status: 'DRAFT' })
  for (const postId of [now, ...twins, later, draft]) await user.until(postId, ['COMPLETED'])
  await world.control.fault({ path: 'putRecord', times: 1, action: { status: 400, body: { error: 'InvalidRequest' } } })
  const failed = await create({})
  await user.until(failed, ['FAILED'])
  await user.posts.retry(failed)
  await user.until(failed, ['COMPLETED'])
  await user.posts.read(failed)
  expect(await judged.verdict()).toEqual([])

  const [record] = await user.published()
  const again = await judged.verdict({
    platforms: [
      {
        platform: 'bluesky',
        ledger: [...(await user.published()), { ...record!, id: 'at://again' }],
        requests: await world.control.requests(),
      },
    ],
  })
  expect(again).toEqual([expect.stringContaining('I1')])
})
