import { createTemporalClient } from './client.ts'
import { createErase } from './erase.ts'
import { createHealth } from './health.ts'
import { createSchedules } from './schedules.ts'
import { createStarts } from './start.ts'
import { createStuckWorkflows, type StuckWorkflow } from './stuck-workflows.ts'

interface OrchestratorOptions {
  address: string
  namespace: string
  /** Called with the error when a call was not acknowledged. */
  onUnreachable?: (error: unknown) => void
  /** Called when workflows of posts start without search attributes because Temporal does not know them. */
  onUnknownAttributes?: (error: unknown) => void
  /** Called with each workflow that `terminateStuck` ended. */
  onTerminated?: (workflow: StuckWorkflow) => void
}

/** The service's interface to Temporal for routes and activities. Connects when first used and again after an outage. */
export function createOrchestrator({
  onUnknownAttributes = () => {},
  onTerminated = () => {},
  ...options
}: OrchestratorOptions) {
  const client = createTemporalClient(options)
  return {
    ...createStarts(client, { onUnknownAttributes }),
    ...createStuckWorkflows(client, { onTerminated }),
    ...createSchedules(client),
    ...createHealth(client),
    ...createErase(client),
    close: client.close,
  }
}

export type PublishOrchestrator = ReturnType<typeof createOrchestrator>
