import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { registerNamespace, testConfig } from '../support/servers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const started: ChildProcess[] = []
let config: Config

beforeAll(async () => {
  config = testConfig({ LOG_LEVEL: 'info' })
  await registerNamespace(config)
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** One of the service's processes, as a deployment starts it. */
function start(entry: string, overrides: Partial<Record<keyof Config, string>> = {}): ChildProcess {
  const settings = Object.entries({ ...config, ...overrides }).map(([name, value]) => [name, String(value)])
  const child = spawn(process.execPath, [entry], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...Object.fromEntries(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  return child
}

async function end(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const [errors, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit') as Promise<[number]>])
  return { code, errors }
}

/** Resolves with the log line that has these words. */
async function said(child: ChildProcess, words: string): Promise<Record<string, unknown>> {
  let seen = ''
  for await (const chunk of child.stdout!) {
    seen += String(chunk)
    const line = seen.split('\n').find((candidate) => candidate.includes(words))
    if (line) return JSON.parse(line) as Record<string, unknown>
  }
  throw new Error(`It ended without saying "${words}": ${seen}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

describe('a process', () => {
  it.each(['src/server.ts', 'src/worker.ts', 'src/setup.ts'])(
    '%s ends at once when a secret is missing, and names it in a line',
    async (entry) => {
      const { code, errors } = await end(start(entry, { JWT_SECRET: '' }))
      expect(code).toBe(1)
      expect(errors.trim().split('\n')).toEqual([expect.stringContaining('JWT_SECRET')])
    },
  )

  it('that is the API refuses to start without its indexes; setup may run twice and makes them; SIGTERM ends it with 0', async () => {
    const early = await end(start('src/server.ts'))
    expect(early).toMatchObject({ code: 1, errors: expect.stringContaining('npm run setup') as string })
    for (let run = 0; run < 2; run++) {
      const setup = start('src/setup.ts')
      setup.stdout!.resume()
      expect(await end(setup)).toEqual({ code: 0, errors: '' })
    }

    const port = await freePort()
    const api = start('src/server.ts', { PORT: String(port) })
    await said(api, 'Server listening')
    const address = `http://127.0.0.1:${port}`
    expect((await fetch(`${address}/health/ready`)).status).toBe(200)
    expect((await fetch(`${address}/health/delivery`)).status).toBe(503)

    // A request that is on its way when the signal comes is still answered.
    const socket = createConnection(port, '127.0.0.1')
    await once(socket, 'connect')
    const body = JSON.stringify({ email: 'nobody@example.com', password: 'not the password' })
    socket.write('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
    socket.write(`Content-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`)
    const ended = end(api)
    api.stdout!.resume()
    api.kill('SIGTERM')
    socket.write(body.slice(20))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401/)
    socket.destroy()
    expect((await ended).code).toBe(0)
  })

  it('that is the worker drains and ends with 0 on SIGTERM', async () => {
    const worker = start('src/worker.ts')
    const line = await said(worker, 'Worker is ready')
    expect(line).toMatchObject({ queues: ['publishing', 'preparing', 'maintenance'] })
    const ended = end(worker)
    worker.stdout!.resume()
    worker.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })
})
