import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTING_RULES } from '../../../src/domain/posts/posting-rules.ts'
import { PLATFORMS, type Platform } from '../../../src/domain/shared/platforms.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { poll } from '../../support/delivery-world.ts'
import { film } from '../../support/film.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'

// Publishes a large video on each platform with a separate worker process, which must stream it and never hold it in memory.

const VIDEO_BYTES = 200_000_000
/** Maximum memory growth as a share of the video: above the size of the buffers, below a whole video in memory. */
const MOST_GROWTH = 0.75
/** True when the system reports the peak memory of a process. */
const REPORTS_PEAK = existsSync('/proc/self/clear_refs')

/** Platforms that receive a URL and fetch the video themselves. */
const FETCHING: readonly Platform[] = ['threads', 'instagram', 'facebook']

const PATIENCE_MS = 2 * MINUTE

const processes = createProcesses()
let world: PlatformsWorld
let workerPid: number

beforeAll(async () => {
  world = await startPlatformsWorld()
  await world.stopWorkers()
  const worker = processes.start('src/worker.ts', { ...world.context.config, LOG_LEVEL: 'info' })
  await waitForLogEntry(worker, 'worker ready')
  workerPid = worker.pid!
})
afterAll(async () => {
  processes.killAll()
  await world?.stop()
})

const bytesOf = (field: 'VmRSS' | 'VmHWM') => {
  const status = readFileSync(`/proc/${workerPid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)![1]) * 1_024
}

/** Returns the bytes that the worker has read so far, from files and connections. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${workerPid}/io`, 'utf8'))![1])

/** Returns by how many bytes the worker's memory grew at most during the work. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = bytesOf('VmRSS')
  // Resets the peak memory (proc(5)).
  writeFileSync(`/proc/${workerPid}/clear_refs`, '5')
  await work()
  return bytesOf('VmHWM') - before
}

describe.runIf(REPORTS_PEAK).each(PLATFORMS)('a large video on %s', (platform: Platform) => {
  it('a worker publishes 200 MB of video without holding it in memory', { timeout: 300_000 }, async () => {
    const user = await world.user()
    const bytes = Math.min(VIDEO_BYTES, POSTING_RULES[platform].media.video.maxBytes - 10_000)
    const video = await user.upload(film({ bytes, width: 1_080, height: 1_920 }), 'video/mp4')
    const small = await user.upload(film({ bytes: 10_000, width: 1_080, height: 1_920 }), 'video/mp4')
    const publish = async (item: object, number = 0) => {
      const content = { text: `A film, ${number}`, mediaItems: [item] }
      const postId = await user.create({ content, selectedPlatforms: [platform] })
      // Reads the record, not the API: this process simulates the platforms, which blocks its API for seconds.
      await poll(
        () => world.context.posts.find(postId),
        (post) => post?.status === 'COMPLETED',
        PATIENCE_MS,
      )
    }
    // The first delivery loads code and caches, which must not count as memory of the video.
    await publish(small)
    const readBefore = bytesRead()
    const films = Array.from({ length: Math.ceil(VIDEO_BYTES / bytes) }, (_, index) => index + 1)
    const growth = await growthDuring(
      async () => void (await Promise.all(films.map((number) => publish(video, number)))),
    )
    const read = bytesRead() - readBefore
    process.stdout.write(
      `${platform}: ${Math.round((films.length * bytes) / 1e6)} MB of video, ${Math.round(growth / 1e6)} MB more memory\n`,
    )
    expect(growth).toBeLessThan(films.length * bytes * MOST_GROWTH)
    if (FETCHING.includes(platform)) expect(read).toBeLessThan(bytes / 4)
    else expect(read).toBeGreaterThan(films.length * bytes * 0.9)
  })
})
