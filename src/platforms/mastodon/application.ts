import { raceAbort } from '../../flow/deadlines.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, ServerApplications } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { ignoreBody, toFormBody } from '../shared/calls.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import { SCOPES, toClientFields, type ApplicationSource, type Client } from './accounts.ts'
import type { Api } from './api.ts'
import { readRegisteredApplication } from './responses.ts'

/** How an application that registers itself appears on the server. */
export interface ApplicationDescription {
  name: string
  /** URL of a page about this service. */
  website: string
}

interface RegistrationDeps {
  api: Api
  applications: ServerApplications
  description: ApplicationDescription
}

const TIMEOUT_MS = 8 * SECOND

/** Creates the source for an application that the operator registered. */
export function createFixedApplication(client: Client): ApplicationSource {
  return { get: async () => client, find: async () => client, forget: async () => undefined }
}

/**
 * Creates the source for a server that a user named. The application is registered once for all processes, and again
 * when the server has forgotten it or the redirect URI has changed
 * (https://docs.joinmastodon.org/methods/apps/#create).
 */
export function createRegisteredApplication({ api, applications, description }: RegistrationDeps): ApplicationSource {
  const name = `mastodon/${api.base}`
  let registering: Promise<Client> | null = null

  async function findOrRegister(redirectUri: string): Promise<Client> {
    const options = { signal: AbortSignal.timeout(TIMEOUT_MS) }
    const stored = await applications.find(name)
    if (stored && stored.redirectUri === redirectUri && (await isKnown(stored, options))) return stored
    if (stored) await applications.remove(name, stored.clientId)
    const fields = {
      client_name: description.name,
      redirect_uris: redirectUri,
      scopes: SCOPES.join(' '),
      website: description.website,
    }
    const { body } = await api.post('/api/v1/apps', toFormBody(fields), readRegisteredApplication, options)
    return applications.add(name, { clientId: body.client_id, clientSecret: body.client_secret, redirectUri })
  }

  /** Asks for a token of the application itself. Without this check, users would end on an error page of the server. */
  async function isKnown(client: Client, { signal }: CallOptions): Promise<boolean> {
    const fields = { grant_type: 'client_credentials', scope: SCOPES[0]!, ...toClientFields(client) }
    try {
      await api.post('/oauth/token', toFormBody(fields), ignoreBody, { signal })
      return true
    } catch (error) {
      if (isRefusedAs(error, 'application-unknown')) return false
      // Another refusal, such as of the grant type, says nothing about the application.
      if (error instanceof PlatformError && error.answered) return true
      throw error
    }
  }

  return {
    get(redirectUri, { signal }) {
      registering ??= findOrRegister(redirectUri).finally(() => (registering = null))
      return raceAbort(registering, signal)
    },
    find: () => applications.find(name),
    forget: ({ clientId }) => applications.remove(name, clientId),
  }
}
