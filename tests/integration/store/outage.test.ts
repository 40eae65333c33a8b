import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isDatabaseOutage } from '../../../src/store/mongo-errors.ts'
import { ServiceError } from '../../../src/domain/shared/service-error.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { createHttpClient } from '../../../src/platforms/shared/http.ts'
import { unique } from '../../support/servers.ts'

const { MongoClient } = mongoose.mongo

const name = unique('outage')
const client = new MongoClient(inject('servers').mongoUrl, { serverSelectionTimeoutMS: 5_000 })
const things = client.db(name).collection<{ _id: string; count?: number; text?: string }>('things')

beforeAll(async () => void (await things.insertOne({ _id: 'one', count: 0 })))
afterAll(async () => {
  await client.db(name).dropDatabase()
  await client.close()
})

async function errorOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail')
}

/** The same database behind a proxy that can stop reading and reset its connections. */
async function throughProxy() {
  const target = new URL(inject('servers').mongoUrl)
  const sockets = new Set<Socket>()
  const server = createServer((inbound) => {
    const outbound = connectTo(Number(target.port), target.hostname)
    sockets.add(inbound)
    inbound.pipe(outbound).pipe(inbound)
    for (const socket of [inbound, outbound]) socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxied = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    retryWrites: false,
    retryReads: false,
  })
  await proxied.connect()
  const collection = proxied.db(name).collection<{ _id: string; text?: string }>('things')
  await collection.findOne({ _id: 'one' })
  return {
    collection,
    stall: () => sockets.forEach((socket) => socket.unpipe().pause()),
    reset: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    async close() {
      await proxied.close()
      server.close()
    },
  }
}

describe('a database outage is detected', () => {
  it('an error is an outage when no server is found in time', async () => {
    const unreachable = new MongoClient('mongodb://127.0.0.1:9', { serverSelectionTimeoutMS: 100 })
    const error = await errorOf(unreachable.db(name).command({ ping: 1 }))
    expect(error.name).toBe('MongoServerSelectionError')
    expect(isDatabaseOutage(error)).toBe(true)
    expect(isDatabaseOutage(new ServiceError('SERVICE_UNAVAILABLE', 'not now', { cause: error }))).toBe(true)
    const bulk = await errorOf(
      unreachable
        .db(name)
        .collection('things')
        .insertMany([{ text: 'x' }]),
    )
    expect(bulk.name).toBe('MongoBulkWriteError')
    expect(isDatabaseOutage(bulk)).toBe(true)
    await unreachable.close()
  })

  it('an error is an outage when a connection is reset while waiting for a response', async () => {
    const proxy = await throughProxy()
    proxy.stall()
    const failing = errorOf(proxy.collection.findOne({ _id: 'one' }))
    setImmediate(proxy.reset)
    const error = await failing
    expect(error.name).toBe('MongoNetworkError')
    expect(isDatabaseOutage(error)).toBe(true)
    await proxy.close()
  })

  it('an error is an outage when a connection is reset under a large write', async () => {
    const proxy = await throughProxy()
    proxy.stall()
    const failing = errorOf(proxy.collection.insertOne({ _id: 'large', text: 'x'.repeat(15_000_000) }))
    setTimeout(proxy.reset, 200)
    const error = await failing
    expect(error).toMatchObject({ name: 'Error', code: expect.stringMatching(/ECONNRESET|EPIPE/) })
    expect(isDatabaseOutage(error)).toBe(true)
    await proxy.close()
  })

  it('an error is an outage when the client was closed', async () => {
    const closed = new MongoClient(inject('servers').mongoUrl)
    await closed.connect()
    const session = closed.startSession()
    await closed.close()
    const errors = [
      await errorOf(closed.db(name).collection('things').findOne({}, { session })),
      new mongoose.mongo.MongoClientClosedError(),
    ]
    for (const error of errors) expect([error.name, isDatabaseOutage(error)]).toEqual([error.name, true])
  })

  it('an error is an outage when a transaction conflicts with another one', async () => {
    const [first, second] = [client.startSession(), client.startSession()]
    first.startTransaction()
    second.startTransaction()
    await things.updateOne({ _id: 'one' }, { $inc: { count: 1 } }, { session: first })
    const error = await errorOf(things.updateOne({ _id: 'one' }, { $inc: { count: 1 } }, { session: second }))
    expect(error).toMatchObject({ name: 'MongoServerError', code: 112 })
    expect(isDatabaseOutage(error)).toBe(true)
    await Promise.all([first.abortTransaction(), second.abortTransaction()])
    await Promise.all([first.endSession(), second.endSession()])
  })
})

describe('no database outage is detected', () => {
  it.each([
    ['it refuses a duplicate', () => things.insertOne({ _id: 'one' })],
    [
      'it refuses a duplicate in a transaction',
      () =>
        client.withSession((session) => session.withTransaction(() => things.insertOne({ _id: 'one' }, { session }))),
    ],
    ['it refuses a bad query', () => things.findOne({ count: { $never: 1 } } as never)],
    ['it refuses an unknown command', () => client.db(name).command({ noSuchCommand: 1 })],
    [
      'the driver refuses a session that it was used wrongly with',
      () => client.withSession((session) => session.commitTransaction()),
    ],
  ])('an error is not an outage when %s', async (_, work) => {
    const error = await errorOf(work())
    expect([error.name, isDatabaseOutage(error)]).toEqual([error.name, false])
  })

  it('an error is not an outage when a client ends its request early, although its code equals that of a reset connection', async () => {
    const failed = Promise.withResolvers<Error>()
    const server = createHttpServer((request: IncomingMessage) => {
      request.on('error', failed.resolve).resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connectTo((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{')
    const error = await failed.promise
    expect(error).toMatchObject({ code: 'ECONNRESET' })
    expect(isDatabaseOutage(error)).toBe(false)
    server.close()
  })

  it('an error is not an outage when the connection to a platform is reset', async () => {
    const server = createServer((socket) => void socket.once('data', () => socket.resetAndDestroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const http = createHttpClient({ connections: 1, userAgent: 'postonce-test' })
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const error = await errorOf(http.send({ method: 'GET', url, signal: new AbortController().signal }))
    const wrapped = new PlatformError('transient', 'broke off', { certain: false, cause: error })
    expect([isDatabaseOutage(error), isDatabaseOutage(wrapped)]).toEqual([false, false])
    await http.close()
    server.close()
  })
})
