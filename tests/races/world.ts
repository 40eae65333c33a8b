import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { freePort, type Running } from '../../sandbox/servers/process.ts'
import { startApi, startWorker } from '../../sandbox/service.ts'
import type { Config } from '../../src/config.ts'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../support/delivery-world.ts'

export interface Answer {
  status: number
  /** What it is, is what the tests find out. */
  body: ReturnType<typeof JSON.parse>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ApiProcess extends Running {
  url: string
  call(user: RaceUser, method: Method, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>
}

export type RaceUser = Awaited<ReturnType<DeliveryWorld['user']>>

/**
 * The delivery world with processes beside it. What meets in one process is put in line there, so races are run between
 * processes: then the database alone decides them.
 */
export async function startRaceWorld(overrides: Partial<Config> = {}) {
  const world = await startDeliveryWorld(overrides)
  const logs = mkdtempSync(join(tmpdir(), 'postonce-races-'))
  const running: Running[] = []
  const { config } = world.context
  const settings = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)]))
  const environment = { ...process.env, ...settings }

  /** Asks the workflow of each post. */
  async function ofWorkflows<T>(postIds: string[], ask: (handle: WorkflowHandle) => Promise<T>): Promise<T[]> {
    const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
    try {
      const { workflow } = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })
      return await Promise.all(postIds.map((postId) => ask(workflow.getHandle(publishPostWorkflowId(postId)))))
    } finally {
      await connection.close()
    }
  }

  return {
    ...world,

    async startApi(): Promise<ApiProcess> {
      const port = await freePort()
      const api = await startApi({ ...environment, PORT: String(port) }, logs, AbortSignal.timeout(60_000))
      running.push(api)
      const url = `http://127.0.0.1:${port}`
      return { ...api, url, call: (user, ...request) => callApi(url, user.secrets.token, ...request) }
    },

    async startWorker(): Promise<Running> {
      // It tells by its log that it is ready.
      const worker = await startWorker({ ...environment, LOG_LEVEL: 'info' }, logs, AbortSignal.timeout(60_000))
      running.push(worker)
      return worker
    },

    /** Resolves when the workflows of these posts have ended: nothing of them can go out any more. */
    async workflowsEnd(postIds: string[]): Promise<void> {
      await ofWorkflows(postIds, (handle) => handle.result())
    },

    /** The worker processes that had a part in these posts. */
    async workersOf(postIds: string[]): Promise<string[]> {
      const histories = await ofWorkflows(postIds, (handle) => handle.fetchHistory())
      const names = histories.flatMap(({ events }) =>
        (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => started?.identity ?? []),
      )
      return [...new Set(names)]
    },

    /** The visible calls that reached the platform for an account, in order. */
    visibleCalls: async ({ account }: RaceUser) =>
      (await world.control.requests()).filter(
        (call) => call.path.includes('putRecord') && call.account === account.did,
      ),

    async stop(): Promise<void> {
      await Promise.all(running.map((process) => process.stop()))
      await world.stop()
      rmSync(logs, { recursive: true, force: true })
    },
  }
}

export type RaceWorld = Awaited<ReturnType<typeof startRaceWorld>>

async function callApi(
  url: string,
  token: string,
  method: Method,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
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
