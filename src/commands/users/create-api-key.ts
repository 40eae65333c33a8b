import { randomBytes } from 'node:crypto'
import { apiKeyCreated } from '../../domain/notifications/notifications.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import {
  API_KEY_BYTES,
  API_KEY_SCOPES,
  isExpiredKey,
  MAX_API_KEYS,
  toApiKey,
  toLastCharacters,
  type ApiKey,
  type ApiKeyScope,
} from '../../domain/users/api-keys.ts'
import { findNameProblems, normalizeName } from '../../domain/shared/names.ts'
import { hashSecret } from '../../security/random.ts'
import { newId } from '../../store/shared/schema.ts'
import type { CommandContext } from '../context.ts'

interface CreateApiKey {
  userId: string
  /** The requesting session. It must not have ended when the key is stored. */
  sessionId: string
  name: string
  scopes: ApiKeyScope[]
  expiresAt: Date | null
}

/**
 * Creates an API key and notifies its owner, all or nothing. The returned `secret` is the key itself, which is not stored.
 * @throws ServiceError VALIDATION_FAILED, API_KEY_LIMIT_REACHED, UNAUTHORIZED
 */
export async function createApiKey(
  deps: CommandContext,
  input: CreateApiKey,
): Promise<{ apiKey: ApiKey; secret: string }> {
  const { userId, sessionId } = input
  const now = deps.clock.now()
  const problems = findProblems(input, now)
  if (problems.length > 0) throw validationFailed(problems)
  const secret = toApiKey(randomBytes(API_KEY_BYTES))
  const apiKey: ApiKey = {
    _id: hashSecret(secret),
    keyId: newId(),
    userId,
    name: normalizeName(input.name),
    scopes: API_KEY_SCOPES.filter((scope) => input.scopes.includes(scope)),
    lastCharacters: toLastCharacters(secret),
    createdAt: now,
    expiresAt: input.expiresAt,
    lastUsedAt: null,
    lastUsedNetwork: null,
  }
  const records = await deps.notifications.toRecords([apiKeyCreated(apiKey)])
  await deps.database.transaction(async (session) => {
    // Locks the user's record, so that the limit holds for concurrent requests, and no key is created after `endEverywhere`.
    await deps.users.raiseAnalyticsVersion(userId, session)
    if (!(await deps.sessions.isOpen(userId, sessionId, session)))
      throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
    if (!(await deps.apiKeys.insert(apiKey, session))) throw limitReached()
    await deps.notifications.insert(records, session)
  }, userId)
  deps.notifications.beginSending(records)
  return { apiKey, secret }
}

function findProblems({ name, expiresAt }: CreateApiKey, now: Date): Problem[] {
  const problems = findNameProblems(name)
  if (!isExpiredKey({ expiresAt }, now)) return problems
  const message = 'The expiry is not in the future. Choose a later time, or null for a key that does not expire.'
  return [...problems, { path: 'expiresAt', code: 'EXPIRY_IN_PAST', message }]
}

function limitReached(): ServiceError {
  const message = `You have ${MAX_API_KEYS} API keys. Delete one that you no longer need.`
  return new ServiceError('API_KEY_LIMIT_REACHED', message, { details: { limit: MAX_API_KEYS } })
}
