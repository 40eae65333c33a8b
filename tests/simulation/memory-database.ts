import { Query as AnyQuery } from 'mingo'
import { Context } from 'mingo/core'
import * as queryOperators from 'mingo/operators/query'
import { $inc, $pull, $push, $set } from 'mingo/operators/update'
import { Query } from 'mingo/query'
import mongoose, { type Schema } from 'mongoose'
import type { Database } from '../../src/store/shared/database.ts'

const { MongoServerError, MongoBulkWriteError, MongoErrorLabel } = mongoose.mongo

/** A stored document. It is replaced and never changed, so its identity is its version. */
type Stored = Readonly<Record<string, unknown>> & { readonly _id: string }

interface UniqueIndex {
  fields: string[]
  /** Documents that do not match have no entry. */
  covers(document: Filter): boolean
}

interface Table {
  documents: Map<string, Stored>
  unique: UniqueIndex[]
}

/** The state of the simulated server, which all connections share. */
export type MemoryStorage = Map<string, Table>

/** The documents as a command sees them: those of the server, or of a transaction. */
interface View {
  get(table: string, id: string): Stored | undefined
  all(table: string): Iterable<Stored>
  put(table: string, id: string, document: Stored | null): void
}

type Filter = Record<string, unknown>
interface CommandOptions {
  session?: unknown
  projection?: Record<string, unknown>
  sort?: Record<string, 1 | -1>
  limit?: number
  ordered?: boolean
}

/** Sends a command: `apply` is called when it reaches the server. The simulation delays it, or loses it or its response. */
export type SendCommand = <T>(command: string, apply: () => T) => Promise<T>

const sendAtOnce: SendCommand = async (_, apply) => apply()

/**
 * A connection to a MongoDB in memory: the commands that the stores of posts and platform posts use, with conditional writes, unique indexes
 * as their schemas declare them, and transactions that conflict. Filters and updates are those of mingo.
 */
export function connectMemory(storage: MemoryStorage, send: SendCommand = sendAtOnce): Database {
  const sessions = new WeakMap<object, Transaction>()

  function tableOf(name: string): Table {
    const table = storage.get(name) ?? { documents: new Map<string, Stored>(), unique: [] }
    storage.set(name, table)
    return table
  }

  const committed: View = {
    get: (table, id) => tableOf(table).documents.get(id),
    all: (table) => tableOf(table).documents.values(),
    put(table, id, document) {
      if (document === null) return void tableOf(table).documents.delete(id)
      assertUnique(table, document, committed)
      tableOf(table).documents.set(id, document)
    },
  }

  function assertUnique(table: string, document: Stored, view: View): void {
    for (const { fields, covers } of tableOf(table).unique) {
      if (!covers(document)) continue
      for (const other of view.all(table)) {
        const isSame =
          other._id !== document._id && covers(other) && fields.every((name) => other[name] === document[name])
        if (isSame) throw duplicateKey(Object.fromEntries(fields.map((name) => [name, 1])))
      }
    }
  }

  /** Writes of a transaction. They reach the server with its commit, unless another write was first. */
  function createTransaction() {
    const written = new Map<string, { table: string; id: string; before: Stored | undefined; after: Stored | null }>()
    const keyOf = (table: string, id: string) => `${table}/${id}`
    const view: View = {
      get(table, id) {
        const own = written.get(keyOf(table, id))
        return own ? (own.after ?? undefined) : committed.get(table, id)
      },
      *all(table) {
        for (const stored of committed.all(table)) if (!written.has(keyOf(table, stored._id))) yield stored
        for (const own of written.values()) if (own.table === table && own.after) yield own.after
      },
      put(table, id, after) {
        if (after) assertUnique(table, after, view)
        const { before } = written.get(keyOf(table, id)) ?? { before: committed.get(table, id) }
        written.set(keyOf(table, id), { table, id, before, after })
      },
    }
    return {
      view,
      commit(): void {
        for (const { table, id, before } of written.values()) {
          if (committed.get(table, id) !== before) throw writeConflict()
        }
        for (const { table, id, after } of written.values()) committed.put(table, id, after)
      },
    }
  }
  type Transaction = ReturnType<typeof createTransaction>

  const viewOf = ({ session }: CommandOptions): View =>
    (session === undefined ? undefined : sessions.get(session as object))?.view ?? committed

  function collection(name: string) {
    const select = (filter: Filter, options: CommandOptions): Stored[] => {
      const view = viewOf(options)
      const matches = toMatcher(filter)
      return [...candidates(view, name, filter)].filter(matches)
    }
    const run = <T>(command: string, apply: () => T) => send(`${command} ${name}`, apply)

    function insert(document: Filter, options: CommandOptions): void {
      const view = viewOf(options)
      const stored = copy(document) as Stored
      if (view.get(name, stored._id)) throw duplicateKey({ _id: 1 })
      view.put(name, stored._id, stored)
    }

    function change(document: Stored, update: Filter, options: CommandOptions): number {
      // Stored documents are never changed, so they can share what the update does not touch.
      const changed = { ...document } as Stored
      for (const path of Object.values(update).flatMap((expression) => Object.keys(expression as Filter))) {
        const [field = ''] = path.split('.', 1)
        if (changed[field] === document[field]) Object.assign(changed, { [field]: copy(document[field]) })
      }
      const fields = Object.entries(copy(update)).flatMap(([name, expression]) => {
        const operator = UPDATES.get(name)
        if (!operator) throw new Error(`The database in memory does not know ${name}`)
        return operator(expression as Filter)(changed)
      })
      if (fields.length > 0) viewOf(options).put(name, document._id, changed)
      return fields.length > 0 ? 1 : 0
    }

    function updateAll(found: Stored[], update: Filter, options: CommandOptions) {
      const modifiedCount = found.reduce((count, document) => count + change(document, update, options), 0)
      return { matchedCount: found.length, modifiedCount }
    }

    function removeAll(found: Stored[], options: CommandOptions) {
      for (const { _id } of found) viewOf(options).put(name, _id, null)
      return { deletedCount: found.length }
    }

    function find(filter: Filter, options: CommandOptions = {}) {
      const wanted = { ...options }
      const load = () =>
        run('find', () => {
          const found = select(filter, wanted)
          if (!wanted.sort && !wanted.projection) return found.slice(0, wanted.limit).map(copy)
          const cursor = EVERYTHING.find<Stored>(found, wanted.projection ?? {})
          if (wanted.sort) cursor.sort(wanted.sort)
          if (wanted.limit !== undefined) cursor.limit(wanted.limit)
          return cursor.all().map(copy)
        })
      const cursor = {
        sort: (sort: CommandOptions['sort']) => (Object.assign(wanted, { sort }), cursor),
        limit: (limit: number) => (Object.assign(wanted, { limit }), cursor),
        maxTimeMS: () => cursor,
        toArray: load,
        async *[Symbol.asyncIterator]() {
          yield* await load()
        },
      }
      return cursor
    }

    return {
      find,
      findOne: async (filter: Filter, options: CommandOptions = {}) =>
        (await find(filter, { ...options, limit: 1 }).toArray())[0] ?? null,
      countDocuments: (filter: Filter, options: CommandOptions = {}) =>
        run('count', () => select(filter, options).slice(0, options.limit).length),
      insertMany: (documents: Filter[], options: CommandOptions = {}) =>
        run('insert', () => {
          const refused: { index: number; code: number }[] = []
          for (const [index, document] of documents.entries()) {
            try {
              insert(document, options)
            } catch (error) {
              if (options.ordered !== false) throw error
              refused.push({ index, code: DUPLICATE_KEY })
            }
          }
          if (refused.length > 0) throw bulkError(refused)
        }),
      updateOne: (filter: Filter, update: Filter, options: CommandOptions = {}) =>
        run('update', () => updateAll(select(filter, options).slice(0, 1), update, options)),
      updateMany: (filter: Filter, update: Filter, options: CommandOptions = {}) =>
        run('update', () => updateAll(select(filter, options), update, options)),
      deleteMany: (filter: Filter, options: CommandOptions = {}) =>
        run('delete', () => removeAll(select(filter, options), options)),
      findOneAndDelete: (filter: Filter, options: CommandOptions = {}) =>
        run('findAndModify', () => {
          const found = select(filter, options).slice(0, 1)
          removeAll(found, options)
          const [shown] = EVERYTHING.find<Stored>(found, options.projection ?? {}).all()
          return shown ? copy(shown) : null
        }),
    }
  }

  const connection = {
    db: { collection },
    collection,
    model(_: string, schema: Schema, name: string) {
      const table = tableOf(name)
      if (table.unique.length === 0) table.unique.push(...listUniqueIndexes(schema))
      return {
        findOne: (filter: Filter) => ({ lean: () => ({ exec: () => collection(name).findOne(filter) }) }),
      }
    },
  }

  async function transaction<T>(work: (session: never) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const session = {}
      const running = createTransaction()
      sessions.set(session, running)
      try {
        const result = await work(session as never)
        await send('commit', running.commit)
        return result
      } catch (error) {
        const isConflict = error instanceof MongoServerError && error.code === WRITE_CONFLICT
        if (!isConflict || tries === MAX_TRIES) throw error
      }
    }
  }

  return { connection, transaction, createSchema: async () => {}, close: async () => {} } as unknown as Database
}

/** A query copies its context, so that of all operators would cost more than the comparison. */
const OPERATORS = Context.init({ query: queryOperators })

/** Projects and sorts the documents that it is given. */
const EVERYTHING = new AnyQuery({})

const UPDATES = new Map(Object.entries<object>({ $inc, $pull, $push, $set })) as Map<string, typeof $set>

const DUPLICATE_KEY = 11_000
const WRITE_CONFLICT = 112
/** The driver repeats a transaction for seconds; here a few tries are enough. */
const MAX_TRIES = 20

/** Filters mostly name an id, and then only its document is compared. */
function candidates(view: View, table: string, { _id: id }: Filter): Iterable<Stored> {
  const ids = typeof id === 'string' ? [id] : (id as { $in?: string[] } | undefined)?.$in
  return ids ? ids.flatMap((one) => view.get(table, one) ?? []) : view.all(table)
}

/** Most filters compare fields with plain values, which takes no query. */
function toMatcher(filter: Filter): (document: Stored) => boolean {
  const conditions = Object.entries(filter)
  const isPlain = conditions.every(
    ([name, value]) => !name.includes('.') && !name.startsWith('$') && (value === null || typeof value !== 'object'),
  )
  if (isPlain) return (document) => conditions.every(([name, value]) => (document[name] ?? null) === value)
  const query = new Query(filter, { context: OPERATORS })
  return (document) => query.test(document)
}

function listUniqueIndexes(schema: Schema): UniqueIndex[] {
  return schema.indexes().flatMap(([fields, { unique, partialFilterExpression }]) => {
    if (!unique) return []
    const query = new AnyQuery(partialFilterExpression ?? {})
    return [{ fields: Object.keys(fields), covers: (document: Filter) => query.test(document) }]
  })
}

/** Copies a document as the driver does: without undefined fields, and sharing nothing. */
function copy<T>(value: T): T {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Date) return new Date(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => copy(item)) as T
  const copied: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) if (field !== undefined) copied[name] = copy(field)
  return copied as T
}

function duplicateKey(keyPattern: object): Error {
  return new MongoServerError({ message: 'E11000 duplicate key error', code: DUPLICATE_KEY, keyPattern })
}

function bulkError(writeErrors: { index: number; code: number }[]): Error {
  return new MongoBulkWriteError(
    { message: 'E11000 duplicate key error', code: DUPLICATE_KEY, writeErrors } as never,
    {} as never,
  )
}

function writeConflict(): Error {
  const error = new MongoServerError({ message: 'WriteConflict', code: WRITE_CONFLICT })
  error.addErrorLabel(MongoErrorLabel.TransientTransactionError)
  return error
}
