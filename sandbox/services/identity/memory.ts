import type { Adapter, AdapterPayload } from 'oidc-provider'

/** The provider's state between two requests. Logins in progress start over after a restart. */
export function createMemory() {
  const records = new Map<string, AdapterPayload>()

  return (model: string): Adapter => {
    const keyOf = (id: string) => `${model} ${id}`
    const find = (fits: (payload: AdapterPayload) => boolean) =>
      [...records].find(([key, payload]) => key.startsWith(`${model} `) && fits(payload))?.[1]
    return {
      async upsert(id, payload) {
        records.set(keyOf(id), payload)
      },
      find: async (id) => records.get(keyOf(id)),
      findByUid: async (uid) => find((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
      async consume(id) {
        records.get(keyOf(id))!.consumed = Math.floor(Date.now() / 1_000)
      },
      async destroy(id) {
        records.delete(keyOf(id))
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key)
      },
    }
  }
}
