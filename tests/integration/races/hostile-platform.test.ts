import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import type { Running } from '../../../sandbox/servers/process.ts'
import type { PostInput } from '../../faults/judge/evidence.ts'
import { poll } from '../../support/delivery-world.ts'
import { unique } from '../../support/servers.ts'
import { toCreatedId, startRaceWorld, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

/** Far less than the platform offers to send, far more than a busy process needs. */
const MOST_MEMORY_GROWTH_BYTES = 300 * 1_048_576

let world: RaceWorld
let api: ApiProcess
let worker: Running
let restingBytes: number[]

beforeAll(async () => {
  world = await startRaceWorld({ PUBLISH_TIMEOUT_MS: 2_000 })
  await world.stopWorkers()
  ;[api, worker] = await Promise.all([world.startApi(), world.startWorker()])
  const user = await world.user()
  await user.until(await publish(user))
  restingBytes = [api, worker].map(mostMemory)
})
afterAll(async () => {
  // Its workers are already stopped, and their shutdown waits for the call.
  await world?.startWorkers()
  await world?.stop()
})

/** Returns the peak memory of a process in bytes. */
function mostMemory({ pid }: Running): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) * 1_024
}

const inputFor = (text: string): PostInput => ({ text: unique(text), platforms: ['bluesky'] })
const publish = async (user: RaceUser, input = inputFor('hello')) => toCreatedId(await api.as(user).create(input))

const HANG = { hang: true }
const TRICKLE = { trickleBytesPerSecond: 1 }
const BODY = { flood: 'body' } as const
const GZIP = { flood: 'gzip' } as const
const HEADERS = { flood: 'headers' } as const

/** Triggers a delivery that makes the call and returns its post. */
const SCENES = {
  putRecord: (user: RaceUser) => publish(user),
  resolveHandle: (user: RaceUser) => publish(user, inputFor(`@${user.account.handle} hello`)),
  uploadBlob: publishImage,
  async refreshSession(user: RaceUser) {
    const accounts = world.context.database.connection.collection('accounts')
    await accounts.updateOne({ userId: user.userId, platform: 'bluesky' }, { $set: { 'auth.expiresAt': new Date(0) } })
    return publish(user)
  },
  async getRecord(user: RaceUser) {
    const lost = { account: user.account.did, path: 'putRecord', times: 1, action: { dropAfterAccept: true } }
    await world.control.fault(lost)
    return publish(user)
  },
}

async function publishImage(user: RaceUser): Promise<string> {
  const upload = await user.call('POST', '/api/posts/media/upload', { contentType: 'image/png' })
  const { uploadUrl, storageKey } = upload.body.data
  const body = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#369' } })
    .png()
    .toBuffer()
  await fetch(uploadUrl, { method: 'PUT', body, headers: { 'content-type': 'image/png' } })
  const mediaItems = [{ storageKey, mimeType: 'image/png' }]
  const input = inputFor('image')
  const answer = await world.log.record({ kind: 'create', userId: user.userId, input }, () =>
    user.call('POST', '/api/posts', { content: { text: input.text, mediaItems }, selectedPlatforms: input.platforms }),
  )
  return toCreatedId(answer)
}

describe.concurrent('a delivery to a hostile platform', { timeout: 120_000 }, () => {
  it.each<[string, keyof typeof SCENES, FaultAction]>([
    ['never responds', 'putRecord', HANG],
    ['never responds', 'resolveHandle', HANG],
    ['never responds', 'refreshSession', HANG],
    ['responds with a byte per second', 'putRecord', TRICKLE],
    ['responds with a byte per second', 'refreshSession', TRICKLE],
    ['responds with 1 GiB', 'putRecord', BODY],
    ['responds with 1 GiB', 'resolveHandle', BODY],
    ['responds with 1 GiB', 'getRecord', BODY],
    ['responds with 1 GiB of compressed data', 'putRecord', GZIP],
    ['responds with 1 GiB of compressed data', 'uploadBlob', GZIP],
    ['responds with endless headers', 'putRecord', HEADERS],
    ['responds with endless headers', 'refreshSession', HEADERS],
  ])('a delivery succeeds although the platform %s to %s', async (_, call, action) => {
    const user = await world.user()
    const by = faultOn(call, user)
    await world.control.fault({ ...by, times: 1, action })
    const postId = await SCENES[call](user)
    expect(await poll(() => user.status(postId), isEnded, 90_000)).toMatchObject({ status: 'COMPLETED' })
    await world.workflowsEnd([postId])
    expect(await user.published()).toHaveLength(1)
    const unusedFaults = (await world.control.faults()).filter(
      ({ path, account }) => path === by.path && account === by.account,
    )
    expect(unusedFaults).toEqual([])
  })

  it('a delivery waits 7 seconds whenever the platform asks for it, without using up a try', async () => {
    const user = await world.user()
    for (const seconds of [7, 1, 1, 1, 1, 1]) {
      const headers = { 'retry-after': String(seconds) }
      const body = { error: 'RateLimitExceeded' }
      const by = { account: user.account.did, path: 'putRecord', times: 1 }
      await world.control.fault({ ...by, action: { status: 429, headers, body } })
    }
    const postId = await publish(user)
    expect(await poll(() => user.status(postId), isEnded, 90_000)).toMatchObject({
      status: 'COMPLETED',
      platformStatuses: [{ attemptCount: 7, errorCode: null }],
    })
    expect((await world.context.posts.find(postId))!.platformStatuses[0]!.delivery.tries).toBe(0)
    const calls = await world.callsOf(user, 'putRecord')
    expect(calls.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429, 429, 200])
    const [first, ...rest] = calls.map(({ receivedAt }) => Date.parse(receivedAt))
    const waits = rest.map((at, index) => at - [first!, ...rest][index]!)
    expect(waits[0]).toBeGreaterThanOrEqual(7_000)
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1_000)
  })
})

const isEnded = ({ status }: { status: string }) => status === 'COMPLETED' || status === 'FAILED'

/** Selects the calls of a single account: calls without a token have it in their URL. */
function faultOn(
  call: keyof typeof SCENES,
  { account: { did, handle } }: RaceUser,
): { path: string; account?: string } {
  if (call === 'getRecord') return { path: `getRecord?repo=${encodeURIComponent(did)}` }
  if (call === 'resolveHandle') return { path: `resolveHandle?handle=${encodeURIComponent(handle)}` }
  return { path: call, account: did }
}

it('other accounts are served while the calls of an account hang', async () => {
  const [held, free] = [await world.user(), await world.user()]
  await world.control.fault({ account: held.account.did, path: 'putRecord', action: HANG })
  const heldIds = await Promise.all(Array.from({ length: 8 }, () => publish(held)))
  await poll(
    () => world.callsOf(held, 'putRecord'),
    (calls) => calls.length >= 8,
  )
  const freeIds = await Promise.all(Array.from({ length: 8 }, () => publish(free)))
  for (const postId of freeIds) {
    expect(await free.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 1 }] })
  }
  for (const postId of heldIds) expect(await held.status(postId)).toMatchObject({ status: 'PROCESSING' })
  await world.control.clearFaults()
  for (const postId of heldIds) expect(await held.until(postId)).toMatchObject({ status: 'COMPLETED' })
  expect([(await held.published()).length, (await free.published()).length]).toEqual([8, 8])
})

it('connecting to a hostile platform fails in time, stores nothing, and works after it recovers', async () => {
  const user = await world.user({ connected: false })
  const connect = () =>
    api.as(user).other('POST', '/api/platform/bluesky/connect', {
      identifier: user.account.handle,
      appPassword: user.account.appPassword,
    })
  const actions = [HANG, TRICKLE, BODY, GZIP, HEADERS]
  for (const action of actions) await world.control.fault({ path: 'createSession', times: 1, action })
  for (const answer of await Promise.all(actions.map(connect))) {
    expect(answer).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
  }
  expect((await user.call('GET', '/api/platform/find')).body.data.bluesky).toMatchObject({ connected: false })
  expect(await connect()).toMatchObject({ status: 200 })
})

it('hostile responses do not use much memory', () => {
  const growth = [api, worker].map((process, index) => mostMemory(process) - restingBytes[index]!)
  for (const bytes of growth) expect(bytes).toBeLessThan(MOST_MEMORY_GROWTH_BYTES)
})

it('the delivery invariants hold after hostile responses', async () => {
  expect(await world.verdict()).toEqual([])
})
