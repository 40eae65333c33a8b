import { setTimeout as delay } from 'node:timers/promises'
import mongoose, { type ClientSession } from 'mongoose'
import { raceAbort } from '../../flow/deadlines.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { isDatabaseOutage } from '../mongo-errors.ts'
import { claimSchemaVersion, readSchemaVersion } from './schema-version.ts'

/** How long a transaction is repeated on write conflicts. */
export const TRANSACTION_DEADLINE_MS = 5 * SECOND
/** How long a transaction waits for those of its user. No request lasts longer. */
const TURN_DEADLINE_MS = 8 * SECOND
const PING_DEADLINE_MS = 2 * SECOND

const RECONNECT_AFTER_MS = SECOND / 2

/** MongoDB builds three indexes concurrently by default. A command for a fourth would wait, and could exceed the socket timeout. */
const CONCURRENT_INDEX_BUILDS = 3

interface DatabaseOptions {
  /** Upper bound of the driver's connection pool. */
  maxPoolSize?: number
  /** Called with the error each time the first connection fails. */
  onUnreachable?: (error: unknown) => void
  /** Called with each command that is sent to the database. */
  onCommand?: (event: mongoose.mongo.CommandStartedEvent) => void
}

/**
 * Opens one connection to the replica set. The stores define their models on it; nothing is global. An outage becomes an error
 * within 5 s, and the driver reconnects by itself.
 * @throws when the database does not answer now
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = createDatabase(url, options, { retriesConnection: false })
  await database.connected
  return database
}

/** Like `openDatabase`, for processes that start before their database. It retries until `connected` resolves. */
export function connectDatabase(url: string, options: DatabaseOptions = {}): Database {
  return createDatabase(url, options, { retriesConnection: true })
}

function createDatabase(url: string, options: DatabaseOptions, { retriesConnection }: { retriesConnection: boolean }) {
  const closing = new AbortController()
  const connection = mongoose.createConnection()
  connection.set('strictQuery', 'throw')
  connection.set('sanitizeFilter', true)
  const connected = connect()
  connected.catch(() => {})
  const inTurnOfUser = createFairLimit({ maxRunning: Infinity, perKey: 1 })

  async function connect(): Promise<void> {
    for (;;) {
      try {
        await connection.openUri(url, {
          autoIndex: false,
          autoCreate: false,
          bufferCommands: false,
          ignoreUndefined: true,
          maxPoolSize: options.maxPoolSize ?? 20,
          serverSelectionTimeoutMS: 5 * SECOND,
          connectTimeoutMS: 5 * SECOND,
          socketTimeoutMS: 30 * SECOND,
          retryWrites: true,
          w: 'majority',
          readConcernLevel: 'majority',
          monitorCommands: options.onCommand !== undefined,
        })
        if (options.onCommand) connection.getClient().on('commandStarted', options.onCommand)
        return
      } catch (error) {
        // A wrong address or password is permanent.
        if (!retriesConnection || closing.signal.aborted || !isDatabaseOutage(error)) throw error
        options.onUnreachable?.(error)
      }
      await delay(RECONNECT_AFTER_MS, undefined, { signal: closing.signal })
    }
  }

  async function runTransaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    const deadline = Date.now() + TRANSACTION_DEADLINE_MS
    let lastConflict: unknown
    const session = await connection.startSession()
    try {
      return await session.withTransaction(
        async () => {
          // The driver would repeat for two minutes and accepts no other deadline.
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
  }

  return {
    connection,

    /** Resolves when the database has answered once; rejects on a permanent error. */
    connected,

    /**
     * Runs `work` in one transaction. The driver repeats it on write conflicts for at most 5 s.
     * @param userId the user whose record or feed it writes. Such transactions take turns here, because they would conflict
     * @throws ServiceError SERVICE_UNAVAILABLE when it cannot be committed in that time
     */
    async transaction<T>(work: (session: ClientSession) => Promise<T>, userId?: string): Promise<T> {
      if (userId === undefined) return runTransaction(work)
      const startedAt = Date.now()
      return inTurnOfUser(userId, () => {
        // A locked record uses up one deadline, and not one for every transaction that waits.
        if (Date.now() - startedAt >= TURN_DEADLINE_MS) throw busy()
        return runTransaction(work)
      })
    },

    /** @throws within 2 s */
    async ping(): Promise<void> {
      if (!connection.db) throw new Error('The database has not answered yet')
      // The driver's own deadlines are longer, and it checks the signal only once it has a connection.
      const deadline = AbortSignal.timeout(PING_DEADLINE_MS)
      await raceAbort(connection.db.command({ ping: 1 }, { signal: deadline }), deadline)
    },

    /**
     * Records the schema version and creates the collections with their indexes. Can be repeated.
     * @throws SchemaVersionError, without a change, for a database whose records have another form
     */
    async createSchema(): Promise<void> {
      await claimSchemaVersion(connection)
      const models = Object.values(connection.models).values()
      const createNext = async () => {
        for (const model of models) {
          await model.createCollection()
          await model.createIndexes()
        }
      }
      await Promise.all(Array.from({ length: CONCURRENT_INDEX_BUILDS }, createNext))
    },

    /** The version of the form of the stored records; null before `createSchema`. */
    readSchemaVersion: (): Promise<number | null> => readSchemaVersion(connection),

    /** The declared indexes that the database does not have. */
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

    async close(): Promise<void> {
      closing.abort()
      // Otherwise closing would wait for a first connection that is still being tried.
      if (connection.readyState === mongoose.ConnectionStates.connecting) await connection.getClient().close()
      await connection.close()
    },
  }
}

export type Database = ReturnType<typeof createDatabase>

export function busy(cause?: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The database is busy. Try again in a moment.', {
    cause,
    retryAfterSeconds: 2,
  })
}
