import { createDeliveryActivities, type DeliveryDeps } from './delivery.ts'
import { createRecordActivities, type RecordDeps } from './records.ts'
import { createSweepActivities, type SweepDeps } from './sweep.ts'

/** Everything the workers of this service can do. */
export function createActivities(deps: DeliveryDeps & RecordDeps & SweepDeps) {
  return { ...createDeliveryActivities(deps), ...createRecordActivities(deps), ...createSweepActivities(deps) }
}

export type Activities = ReturnType<typeof createActivities>
