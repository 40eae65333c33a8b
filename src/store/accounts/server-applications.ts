import type { Connection } from 'mongoose'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'

/** This service as an application on a server that a user named. It contains nothing about users. */
export interface StoredApplication {
  /** The platform and the server. */
  _id: string
  clientId: string
  /** Sealed. */
  clientSecret: string
  redirectUri: string
  registeredAt: Date
}

const SERVER_APPLICATIONS = 'serverApplications'

export function createServerApplicationStore(connection: Connection, now: () => Date) {
  const applications = nativeCollection<StoredApplication>(connection, SERVER_APPLICATIONS)

  return {
    find: (name: string): Promise<StoredApplication | null> => applications().findOne({ _id: name }),

    /** Returns false when the server already has an application. */
    async insert(application: Omit<StoredApplication, 'registeredAt'>): Promise<boolean> {
      try {
        await applications().insertOne({ ...application, registeredAt: now() })
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },

    /** Removes the application unless it was replaced meanwhile. */
    async remove(name: string, clientId: string): Promise<void> {
      await applications().deleteOne({ _id: name, clientId })
    },
  }
}

export type ServerApplicationStore = ReturnType<typeof createServerApplicationStore>
