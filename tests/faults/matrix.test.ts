import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, Connection } from '@temporalio/client'
import { findInFiles } from './files.ts'
import type { Canary } from './judge/evidence.ts'
import { isGood, killAfterAll, LATE, loseAnswers, type MatrixReport } from './matrix.ts'
import { startFaultWorld, type FaultWorld } from './world.ts'

/** Every platform, and everything that may happen to the answer of the call that makes a post visible. */

/** The kill has to come before any answer is given up, which a busy machine may miss. */
const TRIES = 3

const dir = mkdtempSync(join(tmpdir(), 'postonce-matrix-'))
let world: FaultWorld
beforeAll(async () => void (world = await startFaultWorld({ dir })))
afterAll(async () => {
  await world?.stop()
  rmSync(dir, { recursive: true, force: true })
})

function expectAllGood({ cells, violations }: MatrixReport): void {
  expect(violations).toEqual([])
  expect(cells.filter((cell) => !isGood(cell))).toEqual([])
}

it('a worker killed after every platform accepted: one record on each, and its post says which', async () => {
  const hit = new Set<string>()
  for (let seed = 1; seed <= TRIES && hit.size < world.platforms.length; seed++) {
    const outcome = await killAfterAll(world, seed)
    const report = await outcome()
    expectAllGood(report)
    expect(report.cells).toHaveLength(world.platforms.length)
    for (const { way, platform } of report.cells) if (way !== LATE) hit.add(platform)
  }
  expect([...hit].toSorted()).toEqual(world.platforms.map(({ platform }) => platform).toSorted())
})

it('an answer that is lost, on every platform in every way: one record each, and its post says which', async () => {
  const report = await loseAnswers(world)
  expectAllGood(report)
})

describe('in the files of every server and the logs', () => {
  it('no secret of any platform is stored in plain text', () => {
    const { folders, canaries, platforms } = world
    for (const { platform } of platforms) {
      const names = canaries.filter(({ name }) => name.endsWith(` of ${platform}`)).map(({ name }) => name)
      expect(names).toContain(`the access token of ${platform}`)
    }
    expect(findInFiles(folders, canaries)).toEqual([])
  })

  it('one that was let slip is found, wherever that was', async () => {
    const { folders, canaries, database } = world
    const [inDatabase, inHistory, inLog] = ['mongodb', 'temporal', 'logs'].map((folder) => {
      const { value } = canaries.findLast(({ name }) => name.startsWith('the access token of '))!
      return { name: `The secret for ${folder}`, value: `${value}-${folder}` }
    }) as [Canary, Canary, Canary]
    await database.collection('slips').insertOne({ text: inDatabase.value }, { writeConcern: { j: true } })
    await startNothing(inHistory.value)
    appendFileSync(join(dir, 'logs/worker-1.log'), `${JSON.stringify({ msg: inLog.value })}\n`)
    const found = findInFiles(folders, [inDatabase, inHistory, inLog])
    const slips = ['mongodb', 'temporal', 'logs'].map((name) =>
      expect.stringMatching(`^The secret for ${name} .*${name}`),
    )
    expect(found).toEqual(expect.arrayContaining(slips))
  })
})

/** A workflow that no worker takes up, whose history has these words. */
async function startNothing(words: string): Promise<void> {
  const connection = await Connection.connect({ address: world.temporalAddress })
  try {
    const { workflow } = new Client({ connection, namespace: world.temporalNamespace })
    await workflow.start('nothing', { taskQueue: 'nobody', workflowId: 'slip', args: [words] })
  } finally {
    await connection.close()
  }
}
