import { createBilling } from './billing.ts'
import { createCheckouts } from './checkouts.ts'
import { createClock } from './clock.ts'
import { createEvents } from './events.ts'
import { createPortals } from './portals.ts'
import type { EventRecord } from './records.ts'
import { createShapes } from './shapes.ts'
import type { State } from './state.ts'

interface ProcessorDeps {
  state: State
  /** The URL for browsers and clients. */
  base(): string
  webhooks: { isListenedTo(): boolean; send(event: EventRecord): void }
}

/** The processor behind the API, the pages and the controls. */
export function createProcessor({ state, base, webhooks }: ProcessorDeps) {
  const shapes = createShapes(state, base)
  const clock = createClock(state.clock)
  const events = createEvents({ state, clock, ...webhooks })
  const billing = createBilling({ state, shapes, clock, events })
  const checkouts = createCheckouts({ state, shapes, clock, events, billing })
  const portals = createPortals({ state, clock })

  /** Runs the due events in order, each at its instant. Every reader calls it first. */
  function advanceToNow(): void {
    const now = clock.now()
    for (;;) {
      const due = [...billing.due(now), ...checkouts.due(now)]
      if (due.length === 0) return
      const next = due.reduce((one, other) => (other.at < one.at ? other : one))
      clock.at(next.at, next.run)
    }
  }

  return {
    state,
    shapes,
    clock,
    events,
    billing,
    checkouts,
    portals,
    advanceToNow,
  }
}

export type Processor = ReturnType<typeof createProcessor>
