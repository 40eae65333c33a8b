import type { Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'

interface StoredFact {
  /** Platform, server and application, and the fact's own name at the end. */
  _id: string
  value: string
  learntAt: Date
}

/** What the service learnt of a platform's server and has to know after a restart, too. Nothing in it is about a user. */
export function createPlatformFacts(connection: Connection, now: () => Date) {
  const facts = nativeCollection<StoredFact>(connection, 'platform_facts')

  return {
    find: async (name: string): Promise<string | null> => (await facts().findOne({ _id: name }))?.value ?? null,

    async save(name: string, value: string): Promise<void> {
      await facts().updateOne({ _id: name }, { $set: { value, learntAt: now() } }, { upsert: true })
    },
  }
}
