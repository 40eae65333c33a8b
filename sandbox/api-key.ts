import { API_KEY_SCOPES } from '../src/domain/users/api-keys.ts'
import { createApiClient } from './api-client.ts'
import { keep, type Settings } from './settings.ts'

/** Creates the API key that the sandbox prints, unless the key of an earlier start is still valid. */
export async function ensureApiKey(base: string, dir: string, settings: Settings): Promise<void> {
  const api = createApiClient(base)
  if (settings.apiKey !== null && (await api.acceptsKey(settings.apiKey))) return
  const token = await api.logIn(settings.users.user)
  const body = { name: 'Sandbox', scopes: [...API_KEY_SCOPES] }
  settings.apiKey = (await api.call<{ key: string }>('POST', '/api/keys', { token, body })).key
  keep(dir, settings)
}
