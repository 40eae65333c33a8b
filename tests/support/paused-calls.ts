import type { Context } from '../../src/context.ts'

/** Whether a refusal has paused calls to a platform, which lasts for minutes. */
export async function hasPausedCalls({ database }: Context): Promise<boolean> {
  const paused = { pausedUntil: { $gt: new Date() } }
  return (await database.connection.collection('quotas').findOne(paused)) !== null
}
