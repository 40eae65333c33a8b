import { afterAll, beforeAll, expect, test } from 'vitest'
import { billingWorld, UNUSED, USED, type BillingWorld } from './world.ts'

const HOUR = 3_600

let world: BillingWorld

beforeAll(async () => {
  world = await billingWorld()
  world.processor.invoices({ draftSeconds: HOUR })
})

afterAll(() => world.close())

test('while the invoice of a renewal is a draft, the new period applies and the usage is not reset', async () => {
  const { _id: userId } = await world.newUser()
  const { subscriptionId } = world.subscribe(userId)
  await world.context.syncSubscription(userId, (await world.eventsOf(userId))[0])
  const { currentPeriodEnd } = (await world.user(userId)).subscription

  advanceTo(currentPeriodEnd!.getTime() + 1_000)
  await world.context.syncSubscription(userId)
  expect(await world.user(userId)).toMatchObject({
    subscription: {
      plan: 'pro',
      status: 'active',
      processorSubscriptionId: subscriptionId,
      currentPeriodStart: currentPeriodEnd,
    },
    usage: USED,
  })

  advanceTo(currentPeriodEnd!.getTime() + HOUR * 1_000)
  await world.context.syncSubscription(userId)
  expect(await world.user(userId)).toMatchObject({ subscription: { status: 'active' }, usage: UNUSED })
})

function advanceTo(ms: number): void {
  world.processor.advance({ to: new Date(ms).toISOString() })
}
