import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPaymentsMock, startPaymentsMock, type PaymentsMock } from '../../../../sandbox/servers/payments-mock.ts'
import { createPayments, type Payments } from '../../../../src/integrations/payments/payments.ts'
import { USER_AGENT } from '../../../support/user-agent.ts'

const dir = mkdtempSync(join(tmpdir(), 'postonce-shapes-'))
let mock: PaymentsMock
let payments: Payments

beforeAll(async () => {
  mock = await startPaymentsMock({ program: await findPaymentsMock(), logFile: join(dir, 'mock.log') })
  payments = createPayments({
    secretKey: 'sk_test_123',
    url: mock.url,
    priceId: 'price_pro',
    webhookSecrets: [],
    userAgent: USER_AGENT,
    timeoutMs: 30_000,
  })
})
afterAll(async () => {
  await mock?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const CHECKOUT = {
  userId: 'user-1',
  email: 'someone@example.com',
  customerId: null,
  successUrl: 'https://app.example/payment/success?session_id={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://app.example/payment/cancel',
  idempotencyKey: 'checkout/user-1/1',
}
const PORTAL = { customerId: 'cus_1', returnUrl: 'https://app.example/settings', idempotencyKey: 'portal/user-1/1' }

/** Every call, and the values read from the schema's own example response. */
const CALLS = {
  openCheckout: [() => payments.openCheckout(CHECKOUT), { url: expect.stringMatching(/^https:/) }],
  readCheckout: [() => payments.readCheckout('cs_1'), { id: 'cs_1', status: 'open' }],
  expireCheckout: [() => payments.expireCheckout('cs_1'), undefined],
  openPortal: [() => payments.openPortal(PORTAL), { url: expect.stringMatching(/^https:/) }],
  cancelAtPeriodEnd: [() => payments.cancelAtPeriodEnd('sub_1', 'cancel/sub_1'), { id: 'sub_1', state: 'active' }],
  endSubscription: [() => payments.endSubscription('sub_1', 'end/sub_1'), undefined],
  removeCustomer: [() => payments.removeCustomer('cus_1'), undefined],
  readSubscription: [
    () => payments.readSubscription('sub_1'),
    {
      id: 'sub_1',
      state: 'active',
      currentPeriodStart: expect.any(Date),
      currentPeriodEnd: expect.any(Date),
      latestInvoice: { id: expect.any(String), subscriptionId: expect.any(String) },
    },
  ],
  check: [() => payments.check(), undefined],
  readInvoice: [() => payments.readInvoice('in_1'), { id: 'in_1', subscriptionId: expect.any(String) }],
} satisfies Record<Exclude<keyof Payments, 'readEvent'>, [() => Promise<unknown>, object | undefined]>

describe('requests and the processor’s published schema', () => {
  it.each(Object.entries(CALLS))('%s is a call, and its answer can be read', async (_name, [call, answer]) => {
    const answered = await call()
    if (answer === undefined) expect(answered).toBeUndefined()
    else expect(answered).toMatchObject(answer)
  })

  it('a checkout can be opened for an existing customer', async () => {
    await expect(payments.openCheckout({ ...CHECKOUT, customerId: 'cus_1' })).resolves.toMatchObject({
      id: expect.any(String),
    })
  })

  it('a call of another shape is rejected', async () => {
    const successUrl = { not: 'an address' } as unknown as string
    await expect(payments.openCheckout({ ...CHECKOUT, successUrl })).rejects.toMatchObject({ isRefused: true })
  })
})
