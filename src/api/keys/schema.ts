import { Type } from '@sinclair/typebox'
import { API_KEY_PATTERN, API_KEY_SCOPES, type ApiKeyScope } from '../../domain/users/api-keys.ts'
import { Instant, nullable, PersonName, stringEnum } from '../shared/schemas/common.ts'

const Scope = stringEnum<ApiKeyScope>(API_KEY_SCOPES, {
  title: 'ApiKeyScope',
  description: '`:publish`, `:draft` and `:write` include the scopes for reading the same records',
})

export const CreateApiKeyBody = Type.Object(
  {
    name: PersonName,
    scopes: Type.Array(Scope, { minItems: 1, maxItems: API_KEY_SCOPES.length, uniqueItems: true }),
    expiresAt: Type.Optional(nullable(Instant)),
  },
  { title: 'CreateApiKey', examples: [{ name: 'Nightly import', scopes: ['posts:draft'], expiresAt: null }] },
)

const apiKeyFields = {
  id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The beginning and the last four characters of the key' }),
  scopes: Type.Array(Scope),
  createdAt: Instant,
  expiresAt: nullable(Instant),
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'The hour of the last use' })),
  lastUsedNetwork: nullable(
    Type.String({ description: 'The network of the last use: an IPv4 /24 or an IPv6 /48', examples: ['192.0.2.0/24'] }),
  ),
}

export const ApiKeySchema = Type.Object(apiKeyFields, { title: 'ApiKey' })

export const CurrentApiKey = Type.Object(
  {
    id: nullable(Type.String({ description: 'Null for an access token' })),
    scopes: Type.Array(Scope, {
      description: 'The scopes of the key and those that they include; for an access token all scopes',
    }),
  },
  { title: 'CurrentApiKey' },
)

export const CreatedApiKey = Type.Object(
  {
    ...apiKeyFields,
    key: Type.String({
      pattern: `^${API_KEY_PATTERN}$`,
      description: 'The key. Store it now: no other response contains it.',
    }),
  },
  { title: 'CreatedApiKey' },
)
