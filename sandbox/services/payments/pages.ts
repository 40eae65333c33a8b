import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { escapeHtml, page } from '../../platforms/shared/html.ts'
import { isLive } from './billing.ts'
import type {
  Card,
  CheckoutRecord,
  CustomerRecord,
  EventRecord,
  InvoiceRecord,
  Seconds,
  SubscriptionRecord,
} from './records.ts'
import { periodOf } from './shapes/subscription.ts'
import { UNIT_AMOUNT } from './shapes/wire.ts'

const EVENTS_SHOWN = 40
const PRICE = `$${(UNIT_AMOUNT / 100).toFixed(2)}`
const STYLE = `<style>
table{border-collapse:collapse;width:100%}
td,th{border-top:1px solid #ddd;padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top}
div{margin:1rem 0}
form{display:inline}
button{white-space:nowrap}
.note,.bad{background:#fff6d8;border-radius:8px;padding:.4rem .8rem}
.bad{background:#fde8e8}
</style>`
const NOTE = '<p class="note">This is a sandbox. It asks for no card details, and no money moves.</p>'

const CARDS: Record<Card, string> = { works: 'a card that works', fails: 'a card that is declined' }

function sandboxPage(status: number, title: string, body: string): SandboxResponse {
  return page(status, title, `${STYLE}${NOTE}${body}`)
}

/** The page that sells a subscription; `problem` says why a payment failed. */
export function checkoutPage(
  checkout: CheckoutRecord,
  email: string | null,
  problem: string | null = null,
): SandboxResponse {
  const { allowPromotionCodes, cancelUrl } = checkout
  const code = allowPromotionCodes
    ? '<p><label>Promotion code <input name="code" autocomplete="off"></label> (this sandbox has no promotion codes)</p>'
    : ''
  const back = cancelUrl === null ? '' : `<p><a id="back" href="${escapeHtml(cancelUrl)}">Back without paying</a></p>`
  return sandboxPage(
    problem === null ? 200 : 402,
    'Subscribe to Pro',
    `${problem === null ? '' : `<p class="bad" role="alert">${escapeHtml(problem)}</p>`}
<p><strong>${PRICE} a month</strong>, renewed every month until it is cancelled.</p><p>For ${escapeHtml(email ?? 'a new customer')}</p>
<form method="post">${code}
<p><button name="card" value="works">Pay ${PRICE} with ${CARDS.works}</button> <button name="card" value="fails">Pay with ${CARDS.fails}</button></p>
</form>${back}`,
  )
}

interface Customer {
  customer: CustomerRecord
  subscriptions: SubscriptionRecord[]
  invoices: InvoiceRecord[]
}

/** The page where customers manage their subscriptions. */
export function portalPage({ customer, subscriptions, invoices }: Customer, returnUrl: string | null): SandboxResponse {
  const back = returnUrl === null ? '' : `<p><a id="back" href="${escapeHtml(returnUrl)}">Back to postonce</a></p>`
  const plans = subscriptions.map((subscription) => `<div>${planOf(subscription)} ${planButtons(subscription)}</div>`)
  const rows = invoices.map((invoice) => [
    `<a href="/i/${invoice.id}">${escapeHtml(invoice.number)}</a>`,
    dayOf(invoice.createdAt),
    PRICE,
    invoice.status,
    invoice.status === 'open' ? button('pay', '', 'Pay now') : '',
  ])
  const other: Card = customer.card === 'works' ? 'fails' : 'works'
  return sandboxPage(
    200,
    'Your subscription',
    `${back}<p>${escapeHtml(customer.email ?? 'Customer')}</p>${plans.join('') || '<p>You have no subscription.</p>'}
<h2>Card</h2><div>On file: ${CARDS[customer.card]} ${button(other, '', `Use ${CARDS[other]}`)}</div>
<h2>Invoices</h2>${table(['Number', 'Date', 'Amount', 'Status', ''], rows)}`,
  )
}

function planOf(subscription: SubscriptionRecord): string {
  const { status, cancelAtPeriodEnd, endedAt } = subscription
  const end = dayOf(periodOf(subscription).end)
  const next = endedAt !== null ? `ended on ${dayOf(endedAt)}` : `${cancelAtPeriodEnd ? 'ends' : 'renews'} on ${end}`
  return `<strong>Pro</strong>, ${PRICE} a month: <span class="state">${status}, ${next}</span>`
}

function planButtons(subscription: SubscriptionRecord): string {
  if (!isLive(subscription)) return ''
  const { id, cancelAtPeriodEnd } = subscription
  return cancelAtPeriodEnd ? button('resume', id, 'Resume') : button('cancel', id, 'Cancel at the end of the period')
}

export function invoicePage(invoice: InvoiceRecord): SandboxResponse {
  const { number, customerEmail, createdAt, periodStart, periodEnd, status } = invoice
  const rows = [
    ['For', escapeHtml(customerEmail ?? 'a new customer')],
    ['Date', dayOf(createdAt)],
    ['Pro', `${dayOf(periodStart)} to ${dayOf(periodEnd)}`],
    ['Amount', PRICE],
    ['Status', status],
  ]
  return sandboxPage(200, `Invoice ${number}`, table([], rows))
}

interface Everything {
  now: Seconds
  customers: CustomerRecord[]
  subscriptions: SubscriptionRecord[]
  events: EventRecord[]
}

/** The overview for people who try the sandbox: all records and the clock. */
export function overviewPage({ now, customers, subscriptions, events }: Everything): SandboxResponse {
  const emailOf = (id: string) => customers.find((customer) => customer.id === id)?.email ?? id
  const people = customers
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ id, email, card }) => [
      escapeHtml(email ?? id),
      CARDS[card],
      card === 'works' ? button('fails', id, 'Make the card fail') : button('works', id, 'Make the card work'),
    ])
  const plans = subscriptions.map((subscription) => [
    escapeHtml(emailOf(subscription.customerId)),
    `${planOf(subscription)}<br><small>${subscription.id}</small>`,
    isLive(subscription) ? `${planButtons(subscription)} ${button('end', subscription.id, 'End now')}` : '',
  ])
  const eventRows = events
    .slice(0, EVENTS_SHOWN)
    .map(({ id, type, created, deliveries, isHeld }) => [
      secondOf(created),
      `${escapeHtml(type)}<br><small>${id}</small>`,
      deliveries.map(({ status }) => status ?? 'no response').join(', ') || (isHeld ? 'paused' : 'pending'),
      button('deliver', id, 'Deliver'),
    ])
  return sandboxPage(
    200,
    'Payment sandbox',
    `<p>This server simulates Stripe. Its clock shows <strong id="now">${secondOf(now)}</strong>.</p><div>${button('day', '', 'Advance by a day')} ${button('month', '', 'Advance by a month')}</div>
<h2>Customers</h2>${table(['Email address', 'Pays with', ''], people)}
<h2>Subscriptions</h2>${table(['Customer', 'Status', ''], plans)}
<h2>Events, newest first</h2>${table(['Time', 'Type', 'Webhook response', ''], eventRows)}`,
  )
}

/** A separate form, which can be placed anywhere. */
function button(action: string, id: string, label: string): string {
  return `<form method="post"><input type="hidden" name="id" value="${escapeHtml(id)}"><button name="action" value="${action}">${label}</button></form>`
}

function table(headings: string[], rows: string[][]): string {
  if (rows.length === 0) return '<p>None yet.</p>'
  const head = headings.length === 0 ? '' : `<tr>${headings.map((words) => `<th>${words}</th>`).join('')}</tr>`
  return `<table>${head}${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`
}

const secondOf = (seconds: Seconds) => `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
const dayOf = (seconds: Seconds) => new Date(seconds * 1_000).toISOString().slice(0, 10)
