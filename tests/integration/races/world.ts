import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client as TemporalClient, Connection, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client'
import { freePort, type Running } from '../../../sandbox/servers/process.ts'
import { startApi, startWorker } from '../../../sandbox/service.ts'
import type { Config } from '../../../src/config/schema.ts'
import { publishPostWorkflowId } from '../../../src/workflows/messages/publishing.ts'
import { createClient, type Client, type Send } from '../../faults/client.ts'
import type { ProcessExit } from '../../faults/judge/evidence.ts'
import { poll, startDeliveryWorld } from '../../support/delivery-world.ts'
import { judgedWorld } from '../../support/judged-world.ts'

/** With room for a start that only the sweeper makes up for. */
const ENDS_WITHIN_MS = 90_000

export interface ApiProcess extends Running {
  url: string
  /** The user's requests to this process, each noted for the judge. */
  as(user: RaceUser): Client
}

export type RaceUser = Awaited<ReturnType<ReturnType<typeof judgedWorld>['user']>>

/**
 * The delivery world with processes beside it, judged at the end. What meets in one process is put in line there, so races
 * are run between processes: then the database alone decides them.
 */
export async function startRaceWorld(overrides: Partial<Config> = {}) {
  const world = await startDeliveryWorld({ SWEEP_INTERVAL_MS: 5_000, ...overrides })
  const judged = judgedWorld(world)
  const logs = mkdtempSync(join(tmpdir(), 'postonce-races-'))
  const running: Running[] = []
  const exits: ProcessExit[] = []
  const { config, orchestrator } = world.context
  // On a busy machine a start may take longer than a create waits for it.
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

  /** Asks the workflow of each post. */
  async function ofWorkflows<T>(
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

  /** A post that was ended before its start was heard of gets no workflow any more. */
  async function isWaiting(postId: string): Promise<boolean> {
    const post = await world.context.posts.find(postId)
    return post !== null && post.status !== 'CANCELLED'
  }

  return {
    ...world,
    user: judged.user,
    /** For requests that no client of the judge makes. */
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
      // It tells by its log that it is ready.
      const started = await startWorker({ ...environment, LOG_LEVEL: 'info' }, logs, AbortSignal.timeout(60_000))
      return watch('worker', started)
    },

    /** Resolves when the workflows of these posts have ended: nothing of them can go out any more. */
    async workflowsEnd(postIds: string[]): Promise<void> {
      await ofWorkflows(postIds, async (handle, postId) => {
        await poll(async () => (await isThere(handle)) || !(await isWaiting(postId)), Boolean, ENDS_WITHIN_MS)
        if (!(await isThere(handle))) return
        const tooLate = delay(ENDS_WITHIN_MS, 'late', { ref: false })
        if ((await Promise.race([handle.result(), tooLate])) === 'late') throw new Error(`${postId} does not end`)
      })
    },

    /** The worker processes that had a part in these posts. */
    async workersOf(postIds: string[]): Promise<string[]> {
      const histories = await ofWorkflows(postIds, (handle) => handle.fetchHistory())
      const names = histories.flatMap(({ events }) =>
        (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => started?.identity ?? []),
      )
      return [...new Set(names)]
    },

    /** What the platform was asked in the name of a user, by a part of the path, in order. */
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

async function isThere(handle: WorkflowHandle): Promise<boolean> {
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

/** Works through the items with a few at a time. */
export async function inTurns<T, R>(items: T[], width: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = [...items.entries()]
  const runners = Array.from({ length: width }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1])
  })
  await Promise.all(runners)
  return results
}

/** The post that a create made. */
export function madePost(answer: { status: number; body: unknown } | null): string {
  if (answer?.status !== 201) throw new Error(`creating failed: ${JSON.stringify(answer)}`)
  return (answer.body as { data: { postId: string } }).data.postId
}
