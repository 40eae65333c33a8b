import { createApiKey } from '../../src/commands/users/create-api-key.ts'
import type { Context } from '../../src/context.ts'
import { API_KEY_SCOPES, type ApiKey, type ApiKeyScope } from '../../src/domain/users/api-keys.ts'
import type { SignedIn } from './api.ts'

export interface TestKey {
  apiKey: ApiKey
  secret: string
  headers: { authorization: string }
}

/** Creates an API key of a signed-in user, with every scope unless some are given. */
export async function createTestKey(
  context: Context,
  owner: SignedIn,
  { scopes = [...API_KEY_SCOPES], expiresAt = null }: { scopes?: ApiKeyScope[]; expiresAt?: Date | null } = {},
): Promise<TestKey> {
  const created = await createApiKey(context, {
    userId: owner.user._id,
    sessionId: getSessionId(owner),
    name: 'Import',
    scopes,
    expiresAt,
  })
  return { ...created, headers: { authorization: `Bearer ${created.secret}` } }
}

export const getSessionId = ({ refreshCookie }: Pick<SignedIn, 'refreshCookie'>) => refreshCookie.split('.')[0]!
