import { test } from 'vitest'
import { createShardCheck } from './shard-rules.ts'
import { startUnsentMails } from './unsent-mails.ts'

/**
 * The API with default settings and without workers, for all test files of a vitest worker:
 *
 *     let world: ApiWorld
 *     shared.beforeAll(({ api }) => void (world = api))
 *
 * Unique values keep the files apart. A file starts a world of its own when it needs other settings, changes the context, or counts or
 * reads the records of all users.
 */
export const shared = test
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from the pattern
  .extend('workerApi', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const shards = createShardCheck()
    const world = await startUnsentMails({}, { shards })
    onCleanup(world.close)
    return { world, shards }
  })
  .extend('api', { scope: 'file' }, async ({ workerApi }, { onCleanup }) => {
    onCleanup(workerApi.shards.assertNone)
    return workerApi.world
  })
