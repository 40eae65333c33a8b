import { createHash } from 'node:crypto'
import type { Platform } from '../../domain/shared/platforms.ts'

interface Identity {
  platform: Platform
  platformId: string
  server: string | null
}

/**
 * Returns the id of a user's account: the same whenever the account is connected, so its posts and counts continue. The server is part of it
 * only on Mastodon, where ids are unique on their server; a Bluesky account may move to another one.
 */
export function toAccountId(userId: string, account: Identity): string {
  return createHash('sha256')
    .update(`${userId}/${toPlatformAccountId(account)}`)
    .digest('hex')
    .slice(0, 24)
}

/** Returns the id of an account on a platform, whoever connects it. */
export function toPlatformAccountId({ platform, platformId, server }: Identity): string {
  return JSON.stringify(platform === 'mastodon' ? [platform, platformId, server] : [platform, platformId])
}
