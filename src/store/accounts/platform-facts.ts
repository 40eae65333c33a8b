import type { Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'

interface StoredFact {
  /** The platform, the server, the application and the name of the fact. */
  _id: string
  value: string
  learntAt: Date
}

/** Facts about platform servers that must survive a restart. They contain nothing about users. */
export function createPlatformFacts(connection: Connection, now: () => Date) {
  const facts = nativeCollection<StoredFact>(connection, 'platform_facts')

  return {
    find: async (name: string): Promise<string | null> => (await facts().findOne({ _id: name }))?.value ?? null,

    async save(name: string, value: string): Promise<void> {
      await facts().updateOne({ _id: name }, { $set: { value, learntAt: now() } }, { upsert: true })
    },
  }
}
