import mongoose, { type ClientSession } from 'mongoose'
import { ServiceError } from '../domain/service-error.ts'
import { SECOND } from '../domain/times.ts'

const TRANSACTION_DEADLINE_MS = 5 * SECOND
const PING_DEADLINE_MS = 2 * SECOND

interface DatabaseOptions {
  /** Upper bound of the driver's connection pool. */
  maxPoolSize?: number
}

/**
 * Opens one connection to the replica set. Models are defined on it by the stores; nothing here is global.
 * An outage shows as an error within 5 s, and the driver reconnects by itself.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}) {
  const connection = mongoose.createConnection(url, {
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    maxPoolSize: options.maxPoolSize ?? 20,
    serverSelectionTimeoutMS: 5 * SECOND,
    connectTimeoutMS: 5 * SECOND,
    socketTimeoutMS: 30 * SECOND,
    retryWrites: true,
    w: 'majority',
    readConcernLevel: 'majority',
  })
  connection.set('strictQuery', 'throw')
  connection.set('sanitizeFilter', true)
  await connection.asPromise()

  return {
    connection,

    /**
     * Runs `work` in one transaction, repeated by the driver on write conflicts, for at most 5 s.
     * @throws ServiceError SERVICE_UNAVAILABLE when it cannot be committed in that time
     */
    async transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
      const deadline = Date.now() + TRANSACTION_DEADLINE_MS
      let lastConflict: unknown
      const session = await connection.startSession()
      try {
        return await session.withTransaction(
          async () => {
            // The driver would go on for two minutes, and takes no deadline of ours.
            if (Date.now() >= deadline) throw busy(lastConflict)
            try {
              return await work(session)
            } catch (error) {
              lastConflict = error
              throw error
            }
          },
          { writeConcern: { w: 'majority' }, maxCommitTimeMS: TRANSACTION_DEADLINE_MS },
        )
      } finally {
        await session.endSession()
      }
    },

    async ping(): Promise<void> {
      // The driver takes no deadline of ours, and a server that hangs would hold the answer for the socket's time-out.
      const deadline = AbortSignal.timeout(PING_DEADLINE_MS)
      await connection.db!.command({ ping: 1 }, { signal: deadline })
    },

    async createIndexes(): Promise<void> {
      for (const model of Object.values(connection.models)) {
        await model.createCollection()
        await model.createIndexes()
      }
    },

    /** Names of the indexes that the schemas declare and the database does not have. */
    async missingIndexes(): Promise<string[]> {
      const missing = await Promise.all(
        Object.values(connection.models).map(async (model) => {
          const { toCreate } = await model.diffIndexes()
          return toCreate.map(
            (keys: Record<string, unknown>) => `${model.collection.name}: ${Object.keys(keys).join(', ')}`,
          )
        }),
      )
      return missing.flat()
    },

    close: (): Promise<void> => connection.close(),
  }
}

export type Database = Awaited<ReturnType<typeof openDatabase>>

/** A unique index already holds what was to be written. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === 11_000
}

function busy(cause: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The database is busy, try again', { cause, retryAfterSeconds: 2 })
}
