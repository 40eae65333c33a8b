import type { Context } from '../context.ts'
import { createAnalyticsActivities, type AnalyticsDeps } from './analytics/analytics-activities.ts'
import { createDownsampleActivities, type DownsampleDeps } from './analytics/downsample-snapshots.ts'
import { createApplyImportActivities, type ApplyImportDeps } from './imports/apply-import.ts'
import { createBillingActivities } from './billing/billing-activities.ts'
import { createCheckDuePostsActivities, type CheckDuePostsDeps } from './publishing/check-due-posts.ts'
import { createDeliverWebhooksActivities, type DeliverWebhooksDeps } from './webhooks/deliver-webhooks.ts'
import { createCleanUploadsActivities, type CleanUploadsDeps } from './media/clean-uploads.ts'
import { createPublishActivities, type PublishActivitiesDeps } from './publishing/publish-activities.ts'
import { createPushActivities, type PushDeps } from './notifications/push.ts'
import { createEraseAccountActivities } from './users/erase-account.ts'
import { createPostActivities, type PostActivitiesDeps } from './publishing/post-activities.ts'
import { createRenewTokensActivities, type RenewTokensDeps } from './accounts/renew-tokens.ts'
import { createRestartPostsActivities, type RestartPostsDeps } from './publishing/restart-posts.ts'
import { createSendMailActivities, type SendMailDeps } from './notifications/send-mail.ts'
import { createSweepActivities, type SweepDeps } from './publishing/sweep.ts'

/** All activities of this service. */
export function createActivities(
  deps: Context &
    PublishActivitiesDeps &
    PostActivitiesDeps &
    SweepDeps &
    RestartPostsDeps &
    RenewTokensDeps &
    CheckDuePostsDeps &
    CleanUploadsDeps &
    SendMailDeps &
    PushDeps &
    ApplyImportDeps &
    AnalyticsDeps &
    DownsampleDeps &
    DeliverWebhooksDeps,
) {
  return {
    ...createPublishActivities(deps),
    ...createPostActivities(deps),
    ...createSweepActivities(deps),
    ...createRestartPostsActivities(deps),
    ...createRenewTokensActivities(deps),
    ...createCheckDuePostsActivities(deps),
    ...createCleanUploadsActivities(deps),
    ...createSendMailActivities(deps),
    ...createPushActivities(deps),
    ...createEraseAccountActivities(deps),
    ...createApplyImportActivities(deps),
    ...createBillingActivities(deps),
    ...createAnalyticsActivities(deps),
    ...createDownsampleActivities(deps),
    ...createDeliverWebhooksActivities(deps),
  }
}

export type Activities = ReturnType<typeof createActivities>
