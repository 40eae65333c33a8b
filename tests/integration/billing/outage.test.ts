import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import type { User } from '../../../src/domain/users/user.ts'
import { readHistories } from '../../faults/gather.ts'
import { allRecords, createRecordedLogger } from '../../support/traces.ts'
import { startBillingService, type BillingService } from './service.ts'

/** Users pay, and then the processor is unreachable for a minute: from the first call of a sync on, or in its middle. */
const AWAY = [
  { action: { cut: true }, call: 'checkout' },
  { action: { cut: true }, call: 'subscription' },
  { action: { hang: true }, call: 'checkout' },
  { action: { hang: true }, call: 'subscription' },
] as const

/** How often every event is delivered during the outage. */
const ROUNDS = 12

const log = createRecordedLogger()
const payers: { userId: string; email: string; accessToken: string }[] = []
const statuses: (number | null)[] = []
/** The records during the outage. */
const recordsDuringOutage: User[] = []
let world: BillingService

beforeAll(async () => {
  world = await startBillingService({ LOG_LEVEL: 'trace', PAYMENTS_TIMEOUT_MS: 1_500 }, { logger: log.logger })
  const { controls, faults, recordOf } = world
  await world.startWorkers()
  controls.webhooks({ held: true })
  for (const { action, call } of AWAY) {
    const { userId, checkoutId, user, accessToken } = await world.atCheckout()
    payers.push({ userId, email: user.email, accessToken })
    const { subscriptionId } = controls.pay(checkoutId)
    const path = call === 'checkout' ? `/checkout/sessions/${checkoutId}` : `/subscriptions/${subscriptionId}`
    await faults.fault({ path, action })
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { id } of controls.events()) statuses.push((await controls.deliver([id]))[0]!.status)
    recordsDuringOutage.push(...(await Promise.all(payers.map(({ userId }) => recordOf(userId)))))
    await delay(MINUTE / ROUNDS)
  }
  await faults.clearFaults()
  await world.untilSettled(2 * MINUTE)
}, 6 * MINUTE)
afterAll(() => world?.stop())

describe('while the payment processor is away for a minute', () => {
  it('events are acknowledged while the processor is unreachable, also repeatedly', () => {
    expect(statuses.length).toBeGreaterThan(50)
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  it('no event is applied partially during an outage', () => {
    expect(recordsDuringOutage.length).toBeGreaterThan(4 * payers.length)
    for (const { subscription, limits, billing } of recordsDuringOutage) {
      expect(subscription).toMatchObject({ plan: 'free', processorCustomerId: null, processorSubscriptionId: null })
      expect(limits.maxPosts).toBe(1_000)
      expect(billing).toMatchObject({ subscriptions: [], applied: null, countedInvoiceIds: [] })
    }
  })

  it('every user is on Pro after the outage, with the dates and one notification', async () => {
    for (const { userId } of payers) {
      const { subscription, limits } = await world.recordOf(userId)
      expect(subscription).toMatchObject({ plan: 'pro', status: 'active', processorCustomerId: expect.any(String) })
      const { currentPeriodStart: start, currentPeriodEnd: end } = subscription
      expect(end!.getTime() - start!.getTime()).toBeGreaterThan(27 * DAY)
      expect(limits).toEqual(world.context.planLimits.pro)
      const news = await world.context.notifications.listOf(userId, 100)
      expect(news.map(({ message }) => message)).toEqual([expect.stringContaining('is now on the Pro plan')])
    }
  })
})

describe('personal payment data', () => {
  it('customer data is in no history, no operator view, no log and no stored event', async () => {
    const { context, processor } = world
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, STRIPE_SECRET_KEY } = context.config
    const { text: histories } = await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE)
    const details = (await Promise.all(payers.map(({ userId }) => world.detailsOf(userId)))).join('\n')
    const records = (await allRecords(context)).filter((record) => !('passwordHash' in record))
    const places = [histories, details, log.written(), JSON.stringify(records)]
    const secrets = payers.flatMap(({ email, accessToken }) => [email, accessToken])
    for (const secret of [...secrets, STRIPE_SECRET_KEY, processor.facts.webhookSecret]) {
      expect(secret.length).toBeGreaterThan(10)
      expect(places.map((place) => place.includes(secret))).toEqual(places.map(() => false))
    }
    expect(histories).toContain('applyPaymentEvent')
    expect(histories).not.toMatch(/"Ann"|@example/)
  })

  it('an event can be traced without customer data', async () => {
    const story = await world.detailsOf(payers[0]!.userId)
    expect(story).toMatch(/^pro\/active, period ends 20\S+Z\n/)
    expect(story).toMatch(/- 20\S+Z checkout\.session\.completed evt_\w+: /)
    expect(story).toMatch(/: pro\/active until 20\S+/)
  })
})
