import { serverApplicationSecret } from '../../domain/shared/secrets.ts'
import type { ServerApplication, ServerApplications } from '../../platforms/contract.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { ServerApplicationStore, StoredApplication } from '../../store/accounts/server-applications.ts'

interface ServerApplicationsDeps {
  store: ServerApplicationStore
  cipher: TokenCipher
}

/** Seals the secrets of applications on servers that users named. */
export function createServerApplications({ store, cipher }: ServerApplicationsDeps): ServerApplications {
  function open({ _id, clientId, clientSecret, redirectUri }: StoredApplication): ServerApplication {
    return { clientId, clientSecret: cipher.open(clientSecret, serverApplicationSecret({ _id })), redirectUri }
  }

  /** @throws SecretUnreadableError */
  async function find(name: string): Promise<ServerApplication | null> {
    const stored = await store.find(name)
    return stored && open(stored)
  }

  return {
    find,

    async add(name, application) {
      const { clientId, clientSecret, redirectUri } = application
      const sealed = cipher.seal(clientSecret, serverApplicationSecret({ _id: name }))
      const isStored = await store.insert({ _id: name, clientId, clientSecret: sealed, redirectUri })
      return isStored ? application : ((await find(name)) ?? application)
    },

    remove: (name, clientId) => store.remove(name, clientId),
  }
}
