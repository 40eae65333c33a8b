import { type SandboxResponse, ControlError } from '../../platforms/proxied-platform.ts'
import { errorPage, redirect } from '../../platforms/shared/html.ts'
import type { Call, Route } from '../../platforms/shared/server.ts'
import { addMonths } from './calendar.ts'
import type { ProcessorControls } from './controls.ts'
import { checkoutPage, invoicePage, overviewPage, portalPage } from './pages.ts'
import type { Processor } from './processor.ts'
import type { CheckoutRecord, PortalRecord } from './records.ts'

const DAY = 86_400
const GONE = 'This page no longer exists. Open a new one from postonce.'

interface PagesDeps {
  processor: Processor
  controls: ProcessorControls
  base(): string
}

/** Serves the processor's pages: checkout, portal, invoices, and an overview that exists only in the sandbox. */
export function pageRoutes({ processor, controls, base }: PagesDeps): Route[] {
  const { state, clock, checkouts, portals, advanceToNow } = processor

  function showCheckout({ id }: Call): SandboxResponse {
    const checkout = state.checkouts.get(id)
    if (!checkout || checkout.status === 'expired') return errorPage(404, GONE)
    return checkout.status === 'complete' ? redirect(successOf(checkout)) : checkoutPage(checkout, emailOf(checkout))
  }

  function pay({ id, params }: Call): SandboxResponse {
    const checkout = state.checkouts.get(id)
    if (checkout?.status !== 'open') return redirect(`${base()}/c/pay/${id}`)
    const refuse = (problem: string) => checkoutPage(checkout, emailOf(checkout), problem)
    const code = params.text('code')?.trim()
    if (code) return refuse(`The promotion code "${code}" does not exist. Nothing was paid.`)
    const paid = checkouts.pay(id, params.text('card') === 'works' ? 'works' : 'fails')
    return paid.status === 'complete' ? redirect(successOf(paid)) : refuse('The card was declined. Try another one.')
  }

  function emailOf({ customerId, customerEmail }: CheckoutRecord): string | null {
    return customerEmail ?? (customerId === null ? null : (state.customers.get(customerId)?.email ?? null))
  }

  function enterPortal({ id }: Call): SandboxResponse {
    const visit = portals.enter(id)
    return visit === null ? errorPage(404, GONE) : redirect(`${base()}/p/visit/${visit}`)
  }

  function customerOf({ customerId }: PortalRecord) {
    const ownedBy = (record: { customerId: string }) => record.customerId === customerId
    return {
      customer: state.customers.get(customerId)!,
      subscriptions: state.subscriptions.values().filter(ownedBy).toReversed(),
      invoices: state.invoices.values().filter(ownedBy).toReversed(),
    }
  }

  function showPortal({ id }: Call): SandboxResponse {
    const portal = portals.visitedAs(id)
    return portal === null ? errorPage(404, GONE) : portalPage(customerOf(portal), portal.returnUrl)
  }

  function useInPortal({ id, params }: Call): SandboxResponse {
    const portal = portals.visitedAs(id)
    if (portal === null) return errorPage(404, GONE)
    const named = params.text('id') ?? ''
    const isOwn = customerOf(portal).subscriptions.some((subscription) => subscription.id === named)
    const action = params.text('action')
    if (action === 'pay') controls.retryPayment(portal.customerId)
    if (action === 'works' || action === 'fails') controls.setCard(portal.customerId, action)
    if (isOwn && (action === 'cancel' || action === 'resume')) controls[action](named)
    return redirect(`${base()}/p/visit/${id}`)
  }

  function showOverview(): SandboxResponse {
    return overviewPage({
      now: clock.now(),
      customers: state.customers.values().toReversed(),
      subscriptions: state.subscriptions.values().toReversed(),
      events: state.events.values().toReversed(),
    })
  }

  async function useOverview({ params }: Call): Promise<SandboxResponse> {
    const [id, action] = [params.text('id') ?? '', params.text('action')]
    if (action === 'day') controls.advance({ advanceMs: DAY * 1_000 })
    if (action === 'month') controls.advance({ advanceMs: (addMonths(clock.now(), 1) - clock.now()) * 1_000 })
    if (action === 'works' || action === 'fails') controls.setCard(id, action)
    if (action === 'cancel' || action === 'resume' || action === 'end') controls[action](id)
    if (action === 'deliver') await controls.deliver([id])
    return redirect(`${base()}/`)
  }

  const pages: Route[] = [
    ['GET', /^\/$/, showOverview],
    ['POST', /^\/$/, useOverview],
    ['GET', /^\/c\/pay\/([^/]+)$/, showCheckout],
    ['POST', /^\/c\/pay\/([^/]+)$/, pay],
    ['GET', /^\/p\/session\/([^/]+)$/, enterPortal],
    ['GET', /^\/p\/visit\/([^/]+)$/, showPortal],
    ['POST', /^\/p\/visit\/([^/]+)$/, useInPortal],
    [
      'GET',
      /^\/i\/([^/]+)$/,
      ({ id }) => {
        const invoice = state.invoices.get(id)
        return invoice ? invoicePage(invoice) : errorPage(404, GONE)
      },
    ],
  ]

  return pages.map(([method, path, answer]): Route => [
    method,
    path,
    async (call) => {
      advanceToNow()
      try {
        return await answer(call)
      } catch (error) {
        // The session was changed in another tab.
        if (error instanceof ControlError) return errorPage(error.status, error.message)
        throw error
      }
    },
  ])
}

function successOf({ successUrl, id }: CheckoutRecord): string {
  return successUrl.replaceAll('{CHECKOUT_SESSION_ID}', id)
}
