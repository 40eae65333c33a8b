import type { ClientSession } from 'mongoose'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Database } from '../shared/database.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import type { DueMetricsStore } from './due-metrics.ts'
import type { NewAccountSnapshot, PostSnapshot, SnapshotStore } from './snapshots.ts'
import type { UserStore } from '../users/users.ts'

export interface SnapshotWriterDeps {
  database: Pick<Database, 'transaction'>
  snapshots: Pick<SnapshotStore, 'save' | 'saveFollowers'>
  published: Pick<DueMetricsStore, 'recordFetch'>
  users: Pick<UserStore, 'raiseAnalyticsVersion'>
  retentionMs: number
}

/** The account, platform and time of a fetch. */
interface FetchDetails {
  userId: string
  platform: Platform
  /** The platform's id of the account that published the posts; absent for all accounts. */
  publishedBy?: string | null | undefined
  slot: Date
  takenAt: Date
}

type FetchedMetrics = Omit<PostSnapshot, '_id' | 'removeAt' | keyof FetchDetails>

/** Two processes that write the same slot conflict once; a third conflict has another cause. */
const TRIES = 3

/**
 * Stores snapshots together with the fetch time of the posts and the version of the user's analytics. Posts deleted meanwhile
 * get none, and nothing is stored for a deleted user.
 */
export function createSnapshotWriter({ database, snapshots, published, users, retentionMs }: SnapshotWriterDeps) {
  async function raiseVersionAfter(userId: string, work: (session: ClientSession) => Promise<number>): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await database.transaction(async (session) => {
          const stored = await work(session)
          if (!(await users.raiseAnalyticsVersion(userId, session))) throw new OwnerDeleted()
          return stored
        })
      } catch (error) {
        if (error instanceof OwnerDeleted) return 0
        if (!isDuplicateKey(error) || attempt === TRIES) throw error
      }
    }
  }

  return {
    /**
     * Stores snapshots of posts.
     * @param isChanged raises the version of the user's analytics even without a snapshot
     * @returns how many were stored
     */
    async savePosts(fetchDetails: FetchDetails, fetched: FetchedMetrics[], isChanged: boolean): Promise<number> {
      if (fetched.length === 0 && !isChanged) return 0
      const { publishedBy, ...details } = fetchDetails
      const { userId, platform, takenAt } = details
      const removeAt = new Date(takenAt.getTime() + retentionMs)
      return raiseVersionAfter(userId, async (session) => {
        if (fetched.length === 0) return 0
        const ids = fetched.map(({ postId }) => postId)
        const storable = await published.recordFetch({ platform, publishedBy }, ids, details, session)
        const current = fetched.filter(({ postId }) => storable.has(postId))
        if (current.length > 0) {
          const records = current.map((one) => ({ ...one, ...details, removeAt }))
          await snapshots.save(records, session)
        }
        return current.length
      })
    },

    async saveFollowers(fetched: Omit<NewAccountSnapshot, 'removeAt'>): Promise<number> {
      const removeAt = new Date(fetched.takenAt.getTime() + retentionMs)
      return raiseVersionAfter(fetched.userId, async (session) => {
        await snapshots.saveFollowers({ ...fetched, removeAt }, session)
        return 1
      })
    },
  }
}

export type SnapshotWriter = ReturnType<typeof createSnapshotWriter>

class OwnerDeleted extends Error {}
