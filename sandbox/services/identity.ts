import { join } from 'node:path'
import { startSimulator, type SimulatorPlace } from '../platforms/shared/simulator.ts'
import { buildIdentityCallbackUrl } from '../../src/domain/users/identity-login.ts'
import { createProvider, type Tampering } from './identity/provider.ts'
import { createIdentityServer } from './identity/server.ts'
import { openState, randomText, type Client, type Person } from './identity/state.ts'

/** Starts an OpenID Connect provider in place of Google, behind the fault proxy. All data is under `dir`. */
export async function startIdentity(place: SimulatorPlace = {}) {
  const { fronts, ...identity } = await startSimulator('identity', place, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const tamperings: Tampering[] = []
    let provider: ReturnType<typeof createProvider> | undefined

    function createPerson(fields: Partial<Omit<Person, 'id'>> = {}): Person {
      const id = randomText()
      return state.people.set(id, { id, name: '', email: null, emailVerified: true, picture: null, ...fields })
    }

    return {
      server: createIdentityServer({
        state,
        // The provider needs the URL of its proxy.
        provider: () => (provider ??= createProvider(urlOf('identity'), state, () => tamperings.shift())),
        createPerson,
      }),
      fronts: { identity: { ledger: async () => [] } },
      api: {
        createPerson,
        people: () => state.people.values(),
        changePerson: (person: Person): Person => state.people.set(person.id, person),

        /** Returns the client with this id, created if needed, and replaces its redirect URIs. */
        createApp({ id, redirectUris }: Pick<Client, 'id' | 'redirectUris'>): Client {
          const secret = state.clients.get(id)?.secret ?? randomText()
          provider = undefined
          return state.clients.set(id, { id, secret, redirectUris })
        },

        /** Alters the next ID token. */
        tamperNext(tampering: Tampering): void {
          tamperings.push(tampering)
        },
      },
    }
  })
  const { url, control } = fronts['identity']!

  return {
    ...identity,
    url,
    control,
    env(publicUrl: string): Record<string, string> {
      const { id, secret } = identity.createApp({ id: 'postonce', redirectUris: [buildIdentityCallbackUrl(publicUrl)] })
      return { GOOGLE_ISSUER_URL: url, GOOGLE_CLIENT_ID: id, GOOGLE_CLIENT_SECRET: secret }
    },
  }
}

export type IdentitySandbox = Awaited<ReturnType<typeof startIdentity>>
