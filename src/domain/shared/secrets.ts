import type { Platform } from './platforms.ts'

/** The context that a sealed secret is bound to. A secret moved to another user, platform, field or version cannot be opened. */
export interface SecretContext {
  userId: string
  platform: Platform
  field: string
  version: number
}

/** The context of a secret in a record without a platform. */
export interface RecordSecretContext {
  collection: string
  id: string
  field: string
}

/**
 * Thrown when a stored secret cannot be opened: its key is missing or its content was changed. Only the operator can help, so
 * callers wait, and change no record.
 */
export class SecretUnreadableError extends Error {
  constructor() {
    super('A stored secret cannot be read with the configured encryption keys')
    this.name = 'SecretUnreadableError'
  }
}
