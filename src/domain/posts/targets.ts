import type { Platform } from '../shared/platforms.ts'

/** Identifies an entry of a post: the account that the user chose, or the platform for its default account. */
export type Target = string

export function toTarget({ platform, target }: { platform: Platform; target?: string }): Target {
  return target ?? platform
}
