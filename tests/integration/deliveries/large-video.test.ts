import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTING_RULES } from '../../../src/domain/posts/posting-rules.ts'
import { PLATFORMS, type Platform } from '../../../src/domain/shared/platforms.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { poll } from '../../support/delivery-world.ts'
import { film } from '../../support/film.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'

/** A large video to each platform, by a worker in a process of its own: it must pass through, never be held. */

const VIDEO_BYTES = 200_000_000
/** Far more than the buffers between two connections need, and less than a video in memory. */
const MOST_GROWTH = 0.75
/** Whether the system reports the peak memory of a process. */
const REPORTS_PEAK = existsSync('/proc/self/clear_refs')

/** They get an address, and fetch the video themselves. */
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
}, 120_000)
afterAll(async () => {
  processes.killAll()
  await world?.stop()
})

const bytesOf = (field: 'VmRSS' | 'VmHWM') => {
  const status = readFileSync(`/proc/${workerPid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)![1]) * 1_024
}

/** All that the worker has read so far, from wherever. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${workerPid}/io`, 'utf8'))![1])

/** How much more memory the worker held at most, while this went on, than when it began. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = bytesOf('VmRSS')
  // Forgets the maximum so far (proc(5)).
  writeFileSync(`/proc/${workerPid}/clear_refs`, '5')
  await work()
  return bytesOf('VmHWM') - before
}

describe.runIf(REPORTS_PEAK).each(PLATFORMS)('on %s', (platform: Platform) => {
  it(
    'a video of 200 MB, or two of half that size for a smaller limit, is not held in memory',
    { timeout: 300_000 },
    async () => {
      const user = await world.user()
      const bytes = Math.min(VIDEO_BYTES, POSTING_RULES[platform].media.video.maxBytes - 10_000)
      const video = await user.upload(film({ bytes, width: 1_080, height: 1_920 }), 'video/mp4')
      const small = await user.upload(film({ bytes: 10_000, width: 1_080, height: 1_920 }), 'video/mp4')
      const publish = async (item: object, number = 0) => {
        const content = { text: `A film, ${number}`, mediaItems: [item] }
        const postId = await user.create({ content, selectedPlatforms: [platform] })
        // Not by the API: the platforms hold the whole video in this process, which keeps it from answering for seconds.
        await poll(
          () => world.context.posts.find(postId),
          (post) => post?.status === 'COMPLETED',
          PATIENCE_MS,
        )
      }
      // What the first delivery of its kind loads is not the video's.
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
    },
  )
})
