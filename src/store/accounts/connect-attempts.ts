import type { Connection } from 'mongoose'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { createRedirectAttemptStore, type RedirectAttempt } from '../shared/redirect-attempts.ts'
import { required } from '../shared/schema.ts'

/** An attempt of a user to connect an account on a platform's page. */
export interface ConnectAttempt extends RedirectAttempt {
  userId: string
  /** The session that started the attempt; the attempt ends with it. */
  sessionId: string
  platform: Platform
  /** True when a new account is added; absent when it takes the place of the default account. */
  adds?: boolean
  /** The accounts that the login offers, sealed; absent until there is a choice. */
  offer?: string
}

/** The parts of a callback that identify its attempt. Every given part has to match. */
export type AttemptName = Pick<ConnectAttempt, 'platform'> &
  ({ _id: string; userId: string; lookupHash?: string } | { lookupHash: string })

const COLLECTION = 'connectAttempts'

export function createConnectAttemptStore(connection: Connection) {
  const collection = nativeCollection<ConnectAttempt>(connection, COLLECTION)

  const attempts = createRedirectAttemptStore<ConnectAttempt, AttemptName>(connection, {
    model: 'ConnectAttempt',
    collection: COLLECTION,
    fields: {
      userId: required(String),
      sessionId: required(String),
      platform: { type: String, enum: PLATFORMS, required: true },
      adds: { type: Boolean, default: undefined },
      offer: { type: String, default: undefined },
    },
  })

  return {
    ...attempts,

    /** Keeps what the login of a finished attempt offers until `expiresAt`. */
    async saveOffer({ _id, userId }: ConnectAttempt, offer: string, expiresAt: Date): Promise<void> {
      await collection().updateOne({ _id, userId }, { $set: { offer, expiresAt } })
    },

    findOffer: (userId: string, _id: string, now: Date): Promise<ConnectAttempt | null> =>
      collection().findOne({ _id, userId, offer: { $type: 'string' }, expiresAt: { $gt: now } }),

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
