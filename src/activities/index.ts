import { createAnalyticsActivities, type AnalyticsDeps } from './analytics.ts'
import { createBillingActivities, type BillingDeps } from './billing.ts'
import { createCleanUploadsActivities, type CleanUploadsDeps } from './clean-uploads.ts'
import { createDeliveryActivities, type DeliveryDeps } from './delivery.ts'
import { createPushActivities, type PushDeps } from './push.ts'
import { createEraseAccountActivities, type EraseAccountDeps } from './erase-account.ts'
import { createRecordActivities, type RecordDeps } from './records.ts'
import { createRenewTokensActivities, type RenewTokensDeps } from './renew-tokens.ts'
import { createRestartPostsActivities, type RestartPostsDeps } from './restart-posts.ts'
import { createSendMailActivities, type SendMailDeps } from './send-mail.ts'
import { createSweepActivities, type SweepDeps } from './sweep.ts'

/** Everything the workers of this service can do. */
export function createActivities(
  deps: DeliveryDeps &
    RecordDeps &
    SweepDeps &
    RestartPostsDeps &
    RenewTokensDeps &
    CleanUploadsDeps &
    SendMailDeps &
    PushDeps &
    EraseAccountDeps &
    BillingDeps &
    AnalyticsDeps,
) {
  return {
    ...createDeliveryActivities(deps),
    ...createRecordActivities(deps),
    ...createSweepActivities(deps),
    ...createRestartPostsActivities(deps),
    ...createRenewTokensActivities(deps),
    ...createCleanUploadsActivities(deps),
    ...createSendMailActivities(deps),
    ...createPushActivities(deps),
    ...createEraseAccountActivities(deps),
    ...createBillingActivities(deps),
    ...createAnalyticsActivities(deps),
  }
}

export type Activities = ReturnType<typeof createActivities>
