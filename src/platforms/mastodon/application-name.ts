import { HOUR } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, PlatformFacts } from '../contract.ts'
import { readApplication, type Status } from './responses.ts'
import type { Api } from './api.ts'
import { isFinalRefusal } from './errors.ts'

interface ApplicationNameDeps {
  api: Api
  /** Returns the client id of this service on the server. */
  findClientId(): Promise<string>
  facts: PlatformFacts
}

/** How long to wait before the server is queried again for the name. */
const RETRY_AFTER_MS = HOUR
const MAX_NAME_LENGTH = 255

/**
 * Finds the name that this service registered with; the server shows it on published statuses. The endpoint for it is
 * optional, so the name is also read from every accepted post and stored across restarts.
 */
export function createApplicationName({ api, findClientId, facts }: ApplicationNameDeps) {
  const toFactName = async () => `mastodon/${api.base}/${await findClientId()}/applicationName`
  let known: string | null = null
  let refreshAt = 0

  /** @returns `null` when the server does not report it; then any status may be ours */
  async function find({ accessToken: token }: Credentials, { signal }: CallOptions): Promise<string | null> {
    known ??= await facts.find(await toFactName())
    if (known !== null || Date.now() < refreshAt) return known
    try {
      learn((await api.get('/api/v1/apps/verify_credentials', {}, readApplication, { token, signal })).body)
    } catch (error) {
      if (!isFinalRefusal(error)) throw error
      refreshAt = Date.now() + RETRY_AFTER_MS
    }
    return known
  }

  /**
   * Learns the name from a status that is certainly ours. Saving runs in the background: the next status repeats it.
   */
  function learn(application: Status['application']): void {
    if (!application || application.name === known || application.name.length > MAX_NAME_LENGTH) return
    known = application.name
    saveName(known).catch(() => undefined)
  }

  async function saveName(name: string): Promise<void> {
    await facts.save(await toFactName(), name)
  }

  return { find, learn }
}

export type ApplicationName = ReturnType<typeof createApplicationName>
