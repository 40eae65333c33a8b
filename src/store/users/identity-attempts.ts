import type { Connection } from 'mongoose'
import { createRedirectAttemptStore, type RedirectAttempt } from '../shared/redirect-attempts.ts'

/** Somebody who logs in on the identity provider's page; who it is will be known only in the end. */
export type IdentityAttempt = RedirectAttempt

export function createIdentityAttemptStore(connection: Connection) {
  return createRedirectAttemptStore<IdentityAttempt, Pick<IdentityAttempt, '_id'>>(connection, {
    model: 'LoginAttempt',
    collection: 'loginAttempts',
    fields: {},
  })
}

export type IdentityAttemptStore = ReturnType<typeof createIdentityAttemptStore>
