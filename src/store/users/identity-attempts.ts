import type { Connection } from 'mongoose'
import { createRedirectAttemptStore, type RedirectAttempt } from '../shared/redirect-attempts.ts'

/** A login on the identity provider's page; the user is known only at its end. */
export interface IdentityAttempt extends RedirectAttempt {
  /** The timezone of the browser, for the account of a first login; absent when the browser named none. */
  timezone?: string
}

export function createIdentityAttemptStore(connection: Connection) {
  return createRedirectAttemptStore<IdentityAttempt, Pick<IdentityAttempt, '_id'>>(connection, {
    model: 'LoginAttempt',
    collection: 'loginAttempts',
    fields: { timezone: String },
  })
}
