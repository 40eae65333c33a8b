import type { PlatformStatus } from './post.ts'
import type { Platform } from '../shared/platforms.ts'

/** Identifies an entry of a post: the account that the user chose, or the platform for its default account. */
export type Target = string

/** An account that a post is published with. */
export interface ChosenAccount {
  platform: Platform
  /** Set when the user chose this account; absent for the default account of the platform. */
  target?: string
  /** The id of the account; absent while the platform has none. */
  accountId?: string
  /** The handle of the account when it was chosen. */
  accountName?: string
  /** The URL of the account's server, on platforms with many. */
  server?: string
}

export function toTarget({ platform, target }: { platform: Platform; target?: string }): Target {
  return target ?? platform
}

/** An account as the event of a created post names it; null while its platform had none. */
export interface DescribedTarget {
  platform: Platform
  accountId: string | null
  accountName: string | null
}

/** Returns the published entries with an account that the post was not created for, each with the account that it replaced. */
export function findMisplaced<Entry extends Pick<PlatformStatus, 'platform' | 'accountId' | 'status'>>(
  created: readonly DescribedTarget[],
  entries: readonly Entry[],
): { entry: Entry; createdFor: DescribedTarget }[] {
  const abandoned = created.filter(
    ({ accountId }) => accountId !== null && !entries.some((entry) => entry.accountId === accountId),
  )
  return entries.flatMap((entry) => {
    const isPublished = entry.status === 'completed' || entry.status === 'deleted'
    if (!isPublished || created.some(({ accountId }) => accountId === entry.accountId)) return []
    const createdFor = abandoned.find(({ platform }) => platform === entry.platform)
    return createdFor ? [{ entry, createdFor }] : []
  })
}
