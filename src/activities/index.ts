import { createAnalyticsActivities } from './analytics/analytics-activities.ts'
import { createDownsampleActivities } from './analytics/downsample-snapshots.ts'
import { createApplyImportActivities } from './imports/apply-import.ts'
import { createBillingActivities } from './billing/billing-activities.ts'
import { createChangePublishedActivities } from './publishing/change-published.ts'
import { createCheckDuePostsActivities } from './publishing/check-due-posts.ts'
import { createDeliverWebhooksActivities } from './webhooks/deliver-webhooks.ts'
import { createCleanUploadsActivities } from './media/clean-uploads.ts'
import { createPublishActivities } from './publishing/publish-activities.ts'
import { createPushActivities } from './notifications/push.ts'
import { createEraseAccountActivities } from './users/erase-account.ts'
import { createPostActivities } from './publishing/post-activities.ts'
import { createRenewTokensActivities } from './accounts/renew-tokens.ts'
import { createRestartPostsActivities } from './publishing/restart-posts.ts'
import { createSendMailActivities } from './notifications/send-mail.ts'
import { createSweepActivities } from './publishing/sweep.ts'
import type { WorkerContext } from './worker-context.ts'

/** All activities of this service. */
export function createActivities(context: WorkerContext) {
  return {
    ...createPublishActivities(context),
    ...createPostActivities(context),
    ...createSweepActivities(context),
    ...createRestartPostsActivities(context),
    ...createChangePublishedActivities(context),
    ...createRenewTokensActivities(context),
    ...createCheckDuePostsActivities(context),
    ...createCleanUploadsActivities(context),
    ...createSendMailActivities(context),
    ...createPushActivities(context),
    ...createEraseAccountActivities(context),
    ...createApplyImportActivities(context),
    ...createBillingActivities(context),
    ...createAnalyticsActivities(context),
    ...createDownsampleActivities(context),
    ...createDeliverWebhooksActivities(context),
  }
}

export type Activities = ReturnType<typeof createActivities>
