import type { Connection } from 'mongoose'
import { createRedirectAttemptStore, type RedirectAttempt } from '../shared/redirect-attempts.ts'

/** Somebody who logs in on the identity provider's page; who it is will be known only in the end. */
export type LoginAttempt = RedirectAttempt

export function createLoginAttemptStore(connection: Connection) {
  return createRedirectAttemptStore<LoginAttempt, Pick<LoginAttempt, '_id'>>(connection, {
    model: 'LoginAttempt',
    collection: 'loginAttempts',
    fields: {},
  })
}
