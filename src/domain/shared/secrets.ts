import type { Platform } from './platforms.ts'

/** What a sealed secret belongs to. A secret moved to another user, platform, field or version can no longer be opened. */
export interface SecretContext {
  userId: string
  platform: Platform
  field: string
  version: number
}

/** The same for a field of a record that has no platform. */
export interface RecordSecretContext {
  collection: string
  id: string
  field: string
}

/** A stored secret cannot be opened any more: its key is gone, or it is not what was sealed. */
export class SecretUnreadableError extends Error {
  constructor() {
    super('A stored secret can no longer be read')
    this.name = 'SecretUnreadableError'
  }
}
