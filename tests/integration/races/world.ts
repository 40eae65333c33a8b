import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client as TemporalClient, Connection, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client'
import { freePort, type Running } from '../../../sandbox/servers/process.ts'
import { startApi, startWorker } from '../../../sandbox/service.ts'
import type { Config } from '../../../src/config/schema.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { createClient, type Client, type Send } from '../../faults/client.ts'
import type { ProcessExit } from '../../faults/judge/evidence.ts'
import { ALL_QUEUES, poll, startDeliveryWorld } from '../../support/delivery-world.ts'
import { judgedWorld } from '../../support/judged-world.ts'

/** Allows time for a start that only the sweeper makes. */
const ENDS_WITHIN_MS = 90_000

export interface ApiProcess extends Running {
  url: string
  /** Sends the user's requests to this process and records each for the judge. */
  as(user: RaceUser): Client
}

export type RaceUser = Awaited<ReturnType<ReturnType<typeof judgedWorld>['user']>>

/**
 * The delivery world with processes beside it, judged at the end. A process may serialize concurrent requests, so races run
 * between processes, where only the database decides them.
 */
export async function startRaceWorld(overrides: Partial<Config> = {}) {
  const world = await startDeliveryWorld({ SWEEP_INTERVAL_MS: 5_000, ...ALL_QUEUES, ...overrides })
  const judged = judgedWorld(world)
  const logs = mkdtempSync(join(tmpdir(), 'postonce-races-'))
  const running: Running[] = []
  const exits: ProcessExit[] = []
  const { config, orchestrator } = world.context
  // On a busy machine a workflow start may take longer than the create waits for it.
  await orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS)
  const settings = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)]))
  const environment = { ...process.env, ...settings }

  function watch(name: string, started: Running): Running {
    let isStopping = false
    const stop = () => {
      isStopping = true
      return started.stop()
    }
    void started.ended.then((how) => exits.push({ process: name, at: Date.now(), how, intended: isStopping }))
    running.push({ ...started, stop })
    return running.at(-1)!
  }

  /** Queries the workflow of each post. */
  async function queryWorkflows<T>(
    postIds: string[],
    ask: (handle: WorkflowHandle, postId: string) => Promise<T>,
  ): Promise<T[]> {
    const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
    try {
      const { workflow } = new TemporalClient({ connection, namespace: config.TEMPORAL_NAMESPACE })
      return await Promise.all(postIds.map((postId) => ask(workflow.getHandle(publishPostWorkflowId(postId)), postId)))
    } finally {
      await connection.close()
    }
  }

  /** A post that ended before its start was confirmed gets no workflow. */
  async function isWaiting(postId: string): Promise<boolean> {
    const post = await world.context.posts.find(postId)
    return post !== null && post.status !== 'CANCELLED'
  }

  return {
    ...world,
    user: judged.user,
    /** Sends requests that are not recorded for the judge. */
    log: judged.log,
    verdict: () => judged.verdict({ exits }),

    async startApi(): Promise<ApiProcess> {
      const port = await freePort()
      const name = `api-${port}`
      const started = await startApi({ ...environment, PORT: String(port) }, logs, AbortSignal.timeout(60_000))
      const url = `http://127.0.0.1:${port}`
      return {
        ...watch(name, started),
        url,
        as: ({ userId, secrets }) =>
          createClient({ log: judged.log, userId, send: sendTo(url, secrets.token), process: name }),
      }
    },

    async startWorker(): Promise<Running> {
      // The process logs when it is ready.
      const started = await startWorker({ ...environment, LOG_LEVEL: 'info' }, logs, AbortSignal.timeout(60_000))
      return watch('worker', started)
    },

    /** Resolves when the workflows of these posts have ended, so that none of them can still be published. */
    async workflowsEnd(postIds: string[]): Promise<void> {
      await queryWorkflows(postIds, async (handle, postId) => {
        await poll(async () => (await exists(handle)) || !(await isWaiting(postId)), Boolean, ENDS_WITHIN_MS)
        if (!(await exists(handle))) return
        const tooLate = delay(ENDS_WITHIN_MS, 'late', { ref: false })
        if ((await Promise.race([handle.result(), tooLate])) === 'late') throw new Error(`${postId} does not end`)
      })
    },

    /** Returns the worker processes that took part in these posts. */
    async workersOf(postIds: string[]): Promise<string[]> {
      const histories = await queryWorkflows(postIds, (handle) => handle.fetchHistory())
      const names = histories.flatMap(({ events }) =>
        (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => started?.identity ?? []),
      )
      return [...new Set(names)]
    },

    /** Returns the platform calls for a user whose path contains the text, in order. */
    callsOf: async ({ account }: RaceUser, path: string) =>
      (await world.control.requests()).filter((call) => call.path.includes(path) && call.account === account.did),

    async stop(): Promise<void> {
      await Promise.all(running.map((process) => process.stop()))
      await world.stop()
      rmSync(logs, { recursive: true, force: true })
    },
  }
}

export type RaceWorld = Awaited<ReturnType<typeof startRaceWorld>>

async function exists(handle: WorkflowHandle): Promise<boolean> {
  try {
    await handle.describe()
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}

function sendTo(url: string, token: string): Send {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
}

/** Processes the items a few at a time. */
export async function mapLimited<T, R>(items: T[], width: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = [...items.entries()]
  const runners = Array.from({ length: width }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1])
  })
  await Promise.all(runners)
  return results
}

/** Returns the post that a create made. */
export function toCreatedId(answer: { status: number; body: unknown } | null): string {
  if (answer?.status !== 201) throw new Error(`creating failed: ${JSON.stringify(answer)}`)
  return (answer.body as { data: { postId: string } }).data.postId
}
