import { DAY } from '../domain/shared/times.ts'
import type { StoreSettings } from '../store/stores.ts'
import { collectionSettings } from './analytics.ts'
import type { Config } from './schema.ts'

export function storeSettings(config: Config): StoreSettings {
  return {
    sharedAccounts: config.SHARED_ACCOUNTS === 'on',
    eventRetentionMs: config.EVENT_RETENTION_DAYS * DAY,
    readNotificationRetentionMs: config.NOTIFICATION_RETENTION_DAYS * DAY,
    loginLimits: {
      perAccount: config.LOGIN_FAILURES_PER_ACCOUNT,
      perAddress: config.LOGIN_FAILURES_PER_ADDRESS,
      beforeDelay: config.LOGIN_FAILURES_BEFORE_DELAY,
    },
    collection: collectionSettings(config),
  }
}
