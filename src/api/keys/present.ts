import type { Static } from '@sinclair/typebox'
import { API_KEY_PREFIX, type ApiKey } from '../../domain/users/api-keys.ts'
import { toInstant } from '../shared/schemas/common.ts'
import type { ApiKeySchema } from './schema.ts'

/** Converts a key without its hash. */
export function presentApiKey(key: ApiKey): Static<typeof ApiKeySchema> {
  return {
    id: key.keyId,
    name: key.name,
    hint: `${API_KEY_PREFIX}…${key.lastCharacters}`,
    scopes: key.scopes,
    createdAt: key.createdAt.toISOString(),
    expiresAt: toInstant(key.expiresAt),
    lastUsedAt: toInstant(key.lastUsedAt),
    lastUsedNetwork: key.lastUsedNetwork,
  }
}
