import { finishUpgrade } from '../commands/accounts/finish-upgrade.ts'
import { readConfig } from '../config/schema.ts'
import { createContext, type Context } from '../context.ts'
import { parseList } from '../domain/shared/lists.ts'
import { runProcess } from './run-process.ts'

/**
 * `npm run setup`: creates indexes, search attributes, Schedules, and the bucket with its policy and CORS. Can be repeated at
 * any time. `npm run setup -- --finish-upgrade` also moves what an older release stored, once none of its processes runs.
 */
await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  try {
    await context.database.createIndexes()
    await context.notifications.dropOlderIndexes()
    await context.notifications.expireOlderRead()
    await context.storage.ensureBucket([config.FRONTEND_URL, ...parseList(config.CORS_ORIGINS)])
    await createSearchAttributes(context)
    await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, context.collection.intervalMs)
    await upgradeAccounts(context)
    await moveOlderAnalytics(context)
    await recordOlderPlatformPosts(context)
    context.logger.info('Setup finished. Start the API and the worker next.')
  } finally {
    await context.close()
  }
})

/** Older releases store one account per platform, and read nothing else. */
async function upgradeAccounts(context: Context): Promise<void> {
  const { accounts, logger } = context
  const isRequested = process.argv.includes('--finish-upgrade')
  if (isRequested || (await accounts.isUpgradeFinished())) {
    const users = await finishUpgrade(context)
    if (isRequested) logger.info({ users }, 'upgrade finished: connected accounts moved')
    return
  }
  logger.warn(
    'Users can have one account per platform until "npm run setup -- --finish-upgrade". Run it once no process of the older release runs.',
  )
}

/** Processes of an older release store analytics in its form, so the move is repeated once none of them runs. */
async function moveOlderAnalytics({ olderAnalytics, logger }: Context): Promise<void> {
  const pass = process.argv.includes('--finish-upgrade') ? 'finish' : 'start'
  await olderAnalytics.moveSnapshots(pass, (moved) => logger.info({ moved }, 'older snapshots moved'))
  await olderAnalytics.planCollections((posts) => logger.info({ posts }, 'collections of older posts planned'))
  if (pass === 'finish') await olderAnalytics.dropOlderIndexes()
}

/** Processes of an older release need its index, and record platform posts only on posts. */
async function recordOlderPlatformPosts({ posts: { older }, logger }: Context): Promise<void> {
  await older.recordAll((posts) => logger.info({ posts }, 'platform posts of older posts recorded'))
  if (process.argv.includes('--finish-upgrade')) await older.dropOlderIndex()
}

/** Creates the search attributes. Posts are published without them, so a failure does not end the setup. */
async function createSearchAttributes({
  orchestrator,
  logger,
}: Pick<Context, 'orchestrator' | 'logger'>): Promise<void> {
  try {
    await orchestrator.ensureSearchAttributes()
  } catch (error) {
    logger.warn(
      { err: error },
      'Search attributes were not created. Create PostStatus, UserId, Platforms and DueAt by hand.',
    )
  }
}
