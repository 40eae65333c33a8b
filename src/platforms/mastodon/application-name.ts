import { HOUR } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, PlatformFacts } from '../contract.ts'
import { readApplication, type Status } from './responses.ts'
import type { Api } from './api.ts'
import { isFinalRefusal } from './errors.ts'

interface ApplicationNameDeps {
  api: Api
  clientId: string
  facts: PlatformFacts
}

/** How long a server that cannot name the application is not asked again. */
const RETRY_AFTER_MS = HOUR

/**
 * The name that this service registered with, which the server puts on what it publishes. The server's endpoint for it is optional, so
 * that it is also learnt from every accepted post, and kept over restarts.
 */
export function createApplicationName({ api, clientId, facts }: ApplicationNameDeps) {
  const fact = `mastodon/${api.base}/${clientId}/applicationName`
  let known: string | null = null
  let refreshAt = 0

  /** @returns null when the server does not tell; then any status may be ours */
  async function find({ accessToken: token }: Credentials, { signal }: CallOptions): Promise<string | null> {
    known ??= await facts.find(fact)
    if (known !== null || Date.now() < refreshAt) return known
    try {
      learn((await api.get('/api/v1/apps/verify_credentials', {}, readApplication, { token, signal })).body)
    } catch (error) {
      if (!isFinalRefusal(error)) throw error
      refreshAt = Date.now() + RETRY_AFTER_MS
    }
    return known
  }

  /** From what the server shows of a status that is certainly ours. Nothing waits for it to be stored: the next one teaches it again. */
  function learn(application: Status['application']): void {
    if (!application || application.name === known) return
    known = application.name
    facts.save(fact, known).catch(() => undefined)
  }

  return { find, learn }
}

export type ApplicationName = ReturnType<typeof createApplicationName>
