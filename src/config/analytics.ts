import type { Config } from './schema.ts'
import { parseAgeClasses } from '../domain/analytics/collection.ts'
import { DAY, MINUTE, SECOND } from '../domain/shared/times.ts'

/**
 * Settings of metrics collection.
 * @throws Error when the ages cannot be parsed
 */
export function collectionSettings(config: Config) {
  const ages = parseAgeClasses(config.ANALYTICS_AGES)
  return {
    ages,
    /** The interval of the collection runs. */
    intervalMs: config.ANALYTICS_INTERVAL_MINUTES * MINUTE,
    retentionMs: config.ANALYTICS_RETENTION_DAYS * DAY,
    deletionGraceMs: config.ANALYTICS_DELETION_GRACE_SECONDS * SECOND,
    callsInFlight: config.ANALYTICS_CALLS_IN_FLIGHT,
    timeoutMs: config.ANALYTICS_TIMEOUT_MS,
  }
}
