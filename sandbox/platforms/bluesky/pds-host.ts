import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Did, PdsThreadResponse, PdsThreadInput, PdsThreadReady, PdsThreadRequest } from './pds-thread.ts'

/**
 * The server pads each login to 350 ms with a timer. Its delay is negative after a slow login or a clock jump; Node
 * then waits 1 ms and would print a warning each time.
 */
const NODE_OPTIONS = ['--disable-warning=TimeoutNegativeWarning']

/** Starts the server's thread and exchanges messages with it. */
export async function startPdsThread(workerData: PdsThreadInput) {
  const worker = new Worker(new URL('./pds-thread.ts', import.meta.url), { workerData, execArgv: NODE_OPTIONS })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const waiting = new Map<number, (answer: PdsThreadResponse) => void>()
  let lastId = 0

  // Rejects with the thread's own error if it ends before it is ready.
  const [ready] = (await once(worker, 'message')) as [PdsThreadReady]
  worker.on('message', (answer: PdsThreadResponse) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })

  async function ask(command: PdsThreadRequest['command'], did: Did): Promise<string> {
    const id = ++lastId
    const answer = new Promise<PdsThreadResponse>((resolve) => waiting.set(id, resolve))
    worker.postMessage({ id, command, did } satisfies PdsThreadRequest)
    const { result, error } = await answer
    if (result === undefined) throw new Error(error)
    return result
  }

  return {
    pdsUrl: ready.pdsUrl,
    directoryUrl: ready.directoryUrl,
    operator: {
      /** Returns an access token of the account with the scope of its main password. */
      accessToken: (did: Did) => ask('accessToken', did),
      /** Invalidates every refresh token of the account. */
      endSessions: (did: Did) => ask('endSessions', did),
    },
    async stop(): Promise<void> {
      worker.postMessage({ id: 0, command: 'stop', did: 'did:none:' } satisfies PdsThreadRequest)
      await exited
    },
  }
}

export type PdsThread = Awaited<ReturnType<typeof startPdsThread>>
