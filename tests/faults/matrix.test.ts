import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, Connection } from '@temporalio/client'
import { findInFiles } from './files.ts'
import type { Canary } from './judge/evidence.ts'
import { isPublishedOnce, KILLED_LATE, killAfterAllAccepted, loseResponses, type MatrixReport } from './matrix.ts'
import { countPosts, killBetweenParts, loseAnswersOfParts, PARTS } from './parts-matrix.ts'
import { startFaultCluster, type FaultCluster } from './cluster.ts'

/** Tests every platform, with two accounts each, with every fault of the response to the call that makes a post visible. */

/** On a busy machine a call can time out before its worker is killed. Its platform is tested again with the next seed. */
const MAX_SEEDS = 3

const dir = mkdtempSync(join(tmpdir(), 'postonce-matrix-'))
let cluster: FaultCluster
beforeAll(async () => void (cluster = await startFaultCluster({ dir })))
afterAll(async () => {
  await cluster?.stop()
  rmSync(dir, { recursive: true, force: true })
})

function expectPublishedOnce({ cells, violations }: MatrixReport): void {
  expect(violations).toEqual([])
  expect(cells.filter((cell) => !isPublishedOnce(cell))).toEqual([])
}

it('each account has exactly one record when the workers are killed after every account accepted the post', async () => {
  const tested = new Set<string>()
  for (let seed = 1; seed <= MAX_SEEDS && tested.size < cluster.platforms.length; seed++) {
    const awaitReport = await killAfterAllAccepted(cluster, seed)
    const report = await awaitReport()
    expectPublishedOnce(report)
    expect(report.cells).toHaveLength(2 * cluster.platforms.length)
    const late = report.cells.flatMap(({ fault, platform }) => (fault === KILLED_LATE ? platform : []))
    for (const { platform } of report.cells) if (!late.includes(platform)) tested.add(platform)
  }
  expect([...tested].toSorted()).toEqual(cluster.platforms.map(({ platform }) => platform).toSorted())
})

it('each account has exactly one record when the response to the visible call is lost or replaced', async () => {
  expectPublishedOnce(await loseResponses(cluster))
})

it.each([
  ['its answer is lost', loseAnswersOfParts],
  ['the workers are killed before its answer', killBetweenParts],
])('every part of a thread is published once and in order when %s', async (_, run) => {
  const { entries, violations } = await run(cluster)
  expect(violations).toEqual([])
  expect(entries.length).toBeGreaterThan(PARTS)
  for (const entry of entries) {
    expect(entry).toEqual({ ...entry, status: 'completed', parts: countPosts(entry.platform), comment: 'completed' })
  }
})

describe('the files of the servers and the logs', () => {
  it('the files of the servers and the logs contain no platform secret in plain text', () => {
    const { folders, canaries, platforms } = cluster
    for (const { platform } of platforms) {
      const names = canaries.filter(({ name }) => name.endsWith(` of ${platform}`)).map(({ name }) => name)
      expect(names).toContain(`the access token of ${platform}`)
    }
    expect(findInFiles(folders, canaries)).toEqual([])
  })

  it('the search finds a secret that is planted in the database, a workflow history or a log', async () => {
    const { folders, canaries, database } = cluster
    const [inDatabase, inHistory, inLog] = ['mongodb', 'temporal', 'logs'].map((folder) => {
      const { value } = canaries.findLast(({ name }) => name.startsWith('the access token of '))!
      return { name: `The secret for ${folder}`, value: `${value}-${folder}` }
    }) as [Canary, Canary, Canary]
    await database.collection('planted').insertOne({ text: inDatabase.value }, { writeConcern: { j: true } })
    await startUnknownWorkflow(inHistory.value)
    appendFileSync(join(dir, 'logs/worker-1.log'), `${JSON.stringify({ msg: inLog.value })}\n`)
    const found = findInFiles(folders, [inDatabase, inHistory, inLog])
    const planted = ['mongodb', 'temporal', 'logs'].map((name) =>
      expect.stringMatching(`^The secret for ${name} .*${name}`),
    )
    expect(found).toEqual(expect.arrayContaining(planted))
  })
})

/** Starts a workflow that no worker runs. Its history contains the text. */
async function startUnknownWorkflow(text: string): Promise<void> {
  const connection = await Connection.connect({ address: cluster.temporalAddress })
  try {
    const { workflow } = new Client({ connection, namespace: cluster.temporalNamespace })
    await workflow.start('unknown', { taskQueue: 'no-worker', workflowId: 'planted-secret', args: [text] })
  } finally {
    await connection.close()
  }
}
