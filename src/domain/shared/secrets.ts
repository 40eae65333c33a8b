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

/** The parts of a record that the contexts of its secrets consist of. */
export interface SealedRecord {
  _id: string
  userId: string
  platform: Platform
  version: number
}

type SecretOwner = Omit<SecretContext, 'field'>

export const accountSecret =
  (field: 'accessToken' | 'tokenSecret' | 'refreshToken') =>
  ({ userId, platform, version }: SecretOwner): SecretContext => ({ userId, platform, version, field })

export function connectAttemptSecret({
  _id,
  userId,
  platform,
}: Pick<SealedRecord, '_id' | 'userId' | 'platform'>): SecretContext {
  return { userId, platform, field: `connectAttempt ${_id}`, version: 0 }
}

/** The context includes the owner, so that a device with a new owner gets no message meant for the previous one. */
export const pushTokenSecret = ({ _id, userId }: Pick<SealedRecord, '_id' | 'userId'>): RecordSecretContext => ({
  collection: 'pushDevices',
  id: `${userId}/${_id}`,
  field: 'sealedToken',
})

const recordSecret =
  (collection: string, field: string) =>
  ({ _id: id }: Pick<SealedRecord, '_id'>): RecordSecretContext => ({ collection, id, field })

export const identityAttemptSecret = recordSecret('loginAttempts', 'secrets')
export const mailSecret = recordSecret('mails', 'sealed')
export const serverApplicationSecret = recordSecret('serverApplications', 'clientSecret')
/** Both secrets of a webhook have the same context, so that a rotation only moves the old one. */
export const webhookSecret = recordSecret('webhooks', 'secret')

/** A place for sealed secrets. */
export interface SealedField {
  collection: string
  path: string
  toContext(record: SealedRecord): SecretContext | RecordSecretContext
}

/** All fields with sealed secrets. A field that is missing here keeps its old key in a rotation, and cannot be read without it. */
export const SEALED_FIELDS: readonly SealedField[] = [
  { collection: 'accounts', path: 'auth.accessToken', toContext: accountSecret('accessToken') },
  { collection: 'accounts', path: 'auth.tokenSecret', toContext: accountSecret('tokenSecret') },
  { collection: 'accounts', path: 'auth.refreshToken', toContext: accountSecret('refreshToken') },
  { collection: 'connectAttempts', path: 'secrets', toContext: connectAttemptSecret },
  { collection: 'connectAttempts', path: 'offer', toContext: connectAttemptSecret },
  { collection: 'loginAttempts', path: 'secrets', toContext: identityAttemptSecret },
  { collection: 'mails', path: 'sealed', toContext: mailSecret },
  { collection: 'pushDevices', path: 'sealedToken', toContext: pushTokenSecret },
  { collection: 'serverApplications', path: 'clientSecret', toContext: serverApplicationSecret },
  { collection: 'webhooks', path: 'sealedSecret', toContext: webhookSecret },
  { collection: 'webhooks', path: 'oldSecret.sealed', toContext: webhookSecret },
]

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
