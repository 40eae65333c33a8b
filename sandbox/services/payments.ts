import { join } from 'node:path'
import type { LedgerEntry } from '../platforms/proxied-platform.ts'
import { startSimulator, type SimulatorPlace } from '../platforms/shared/simulator.ts'
import { apiRoutes } from './payments/api.ts'
import { controlRoutes, createControls } from './payments/controls.ts'
import { pageRoutes } from './payments/page-routes.ts'
import { createProcessor } from './payments/processor.ts'
import type { InvoiceRecord } from './payments/records.ts'
import { createPaymentsServer } from './payments/server.ts'
import { UNIT_AMOUNT } from './payments/shapes/wire.ts'
import { openState } from './payments/state.ts'
import { createWebhooks } from './payments/webhooks.ts'

/** A paid invoice; `account` is the customer's id. */
export interface PaymentLedgerEntry extends LedgerEntry {
  userId: string | null
  subscriptionId: string
  reason: InvoiceRecord['reason']
  amount: number
}

interface Behaviour {
  /** How long a write with an idempotency key takes, milliseconds; the key is in use meanwhile. */
  workMs?: number
  /** The waits before further attempts to deliver an event. */
  webhookRetryDelaysMs?: number[]
  webhookTimeoutMs?: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const USUAL: Required<Behaviour> = {
  workMs: 20,
  webhookRetryDelaysMs: [SECOND, 3 * SECOND, 10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE],
  webhookTimeoutMs: 30 * SECOND,
}

/**
 * Starts a simulated Stripe behind the fault proxy; the ledger lists every paid invoice. It has its own clock, so that
 * tests and people can let months pass.
 */
export async function startPayments({ dir, ...behaviour }: Pick<SimulatorPlace, 'dir'> & Behaviour = {}) {
  const { workMs, webhookRetryDelaysMs, webhookTimeoutMs } = { ...USUAL, ...behaviour }
  const place = dir === undefined ? {} : { dir }
  const started = await startSimulator('payments', place, ({ dir: folder, urlOf }) => {
    const base = () => urlOf('payments')
    const state = openState(join(folder, 'state.jsonl'))
    const webhooks = createWebhooks({ state, retryDelaysMs: webhookRetryDelaysMs, timeoutMs: webhookTimeoutMs })
    const processor = createProcessor({ state, base, webhooks })
    const controls = createControls({ processor, webhooks })
    const ledger = async (): Promise<PaymentLedgerEntry[]> =>
      state.invoices
        .values()
        .flatMap((invoice) => (invoice.paidAt === null ? [] : [ledgerEntry(invoice, invoice.paidAt)]))
    return {
      server: createPaymentsServer({
        base,
        routes: [...pageRoutes({ processor, controls, base }), ...apiRoutes({ processor, workMs })],
      }),
      fronts: { payments: { ledger, controls: controlRoutes(controls) } },
      api: { account: state.account, webhooks, controls },
    }
  })
  const { account, webhooks, controls } = started
  const { url, control } = started.fronts['payments']!
  return {
    url,
    control,
    facts: { webhookSecret: account.webhookSecret },
    processor: controls,
    /** Sets the targets of webhooks. Several URLs are used in turn. */
    setEndpoints: webhooks.setEndpoints,
    /** The configuration of the service, with the webhook URL. */
    env(publicUrl: string) {
      webhooks.setEndpoints([`${publicUrl}/api/payments/webhook`])
      return {
        STRIPE_SECRET_KEY: account.secretKey,
        STRIPE_WEBHOOK_SECRETS: account.webhookSecret,
        STRIPE_PRICE_ID: account.priceId,
        STRIPE_API_URL: url,
      }
    },
    async stop() {
      await webhooks.stop()
      await started.stop()
    },
  }
}

export type SandboxPayments = Awaited<ReturnType<typeof startPayments>>

function ledgerEntry(invoice: InvoiceRecord, paidAt: number): PaymentLedgerEntry {
  const { id, customerId, subscriptionId, reason, metadata } = invoice
  return {
    id,
    account: customerId,
    text: reason,
    media: [],
    createdAt: new Date(paidAt * 1_000).toISOString(),
    userId: metadata['userId'] ?? null,
    subscriptionId,
    reason,
    amount: UNIT_AMOUNT,
  }
}
