import { createHmac } from 'node:crypto'
import { createPayments } from '../../src/integrations/payments/payments.ts'
import { unique } from './servers.ts'
import { USER_AGENT } from './user-agent.ts'

interface Signing {
  secret: string
  at?: Date
  scheme?: string
}

/** Returns the signature header that the payment processor sends with a webhook of these bytes. */
export function signatureOf(body: string | Buffer, { secret, at = new Date(), scheme = 'v1' }: Signing): string {
  const seconds = Math.floor(at.getTime() / 1_000)
  const hmac = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
  return `t=${seconds},${scheme}=${hmac}`
}

/** Creates the payments client without a processor. It can still verify signed webhooks. */
export function paymentsWithoutProcessor(...webhookSecrets: string[]) {
  return createPayments({
    secretKey: 'sk_test_none',
    url: 'http://127.0.0.1:9',
    priceId: 'price_pro',
    webhookSecrets,
    userAgent: USER_AGENT,
    timeoutMs: 100,
  })
}

/** Builds an event as the processor sends it, with this object. */
export function eventOf(type: string, object: object, id = unique('evt')) {
  return { id, object: 'event', type, created: Math.floor(Date.now() / 1_000), data: { object } }
}
