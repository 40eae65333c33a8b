import { once } from 'node:events'
import { createConnection } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import { createContext } from '../../../src/context.ts'
import { freePort } from '../../../sandbox/servers/process.ts'
import { createAccount, PASSWORD } from '../../support/api.ts'
import { createProcesses, waitForExit, waitForLogEntry } from '../../support/processes.ts'
import { registerNamespace, testConfig } from '../../support/servers.ts'

const processes = createProcesses()
let config: Config

beforeAll(async () => {
  config = testConfig({ LOG_LEVEL: 'info' })
  await registerNamespace(config)
})
afterEach(() => processes.killAll())

const start = (entry: string, overrides: Partial<Record<keyof Config, string>> = {}) =>
  processes.start(entry, config, overrides)

describe('a process', () => {
  it.each(['src/server.ts', 'src/worker.ts', 'src/cli/setup.ts'])(
    '%s exits immediately when a secret is missing, and names it in one line',
    async (entry) => {
      const { code, errors } = await waitForExit(start(entry, { JWT_SECRET: '' }))
      expect(code).toBe(1)
      expect(errors.trim().split('\n')).toEqual([expect.stringContaining('JWT_SECRET')])
    },
  )

  it('the API responds with 503 until setup has created the indexes, and exits with 0 on SIGTERM', async () => {
    const port = await freePort()
    const api = start('src/server.ts', { PORT: String(port) })
    await waitForLogEntry(api, 'Server listening')
    const address = `http://127.0.0.1:${port}`
    const credentials = { email: 'nobody@example.com', password: 'not the password' }
    const logIn = async () => {
      const headers = { 'content-type': 'application/json' }
      return fetch(`${address}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify(credentials) })
    }
    const ready = await fetch(`${address}/health/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ missing: expect.arrayContaining(['index users: email']) as string[] })
    expect(await (await logIn()).json()).toMatchObject({ statusCode: 503, code: 'SERVICE_UNAVAILABLE' })

    for (let run = 0; run < 2; run++) {
      const setup = start('src/cli/setup.ts')
      setup.stdout!.resume()
      expect(await waitForExit(setup)).toEqual({ code: 0, errors: '' })
    }
    expect((await logIn()).status).toBe(401)
    expect((await fetch(`${address}/health/ready`)).status).toBe(200)
    expect((await fetch(`${address}/health/delivery`)).status).toBe(503)

    // A request that is in progress when the signal arrives still gets a response.
    const socket = createConnection(port, '127.0.0.1')
    await once(socket, 'connect')
    const body = JSON.stringify(credentials)
    socket.write('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
    socket.write(`Content-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`)
    const ended = waitForExit(api)
    api.stdout!.resume()
    api.kill('SIGTERM')
    socket.write(body.slice(20))
    const [response] = (await once(socket, 'data')) as [Buffer]
    expect(response.toString()).toMatch(/^HTTP\/1\.1 401/)
    socket.destroy()
    expect((await ended).code).toBe(0)
  })

  it('the API starts the workflows of all posts it created before it exits on SIGTERM', async () => {
    const port = await freePort()
    const api = start('src/server.ts', { PORT: String(port) })
    await waitForLogEntry(api, 'api ready')
    const context = await createContext(config)
    try {
      const { email } = await createAccount(context, { withPassword: true })
      const send = async (path: string, body: object, token = '') => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        })
        return (await response.json()) as { data: { accessToken: string; postId: string } }
      }
      const { accessToken } = (await send('/api/auth/login', { email, password: PASSWORD })).data
      const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
      const post = { content: { text: 'Started in time' }, selectedPlatforms: ['bluesky'], scheduledAt }
      // More than start at a time, so that some still wait in the queue.
      const created = await Promise.all(Array.from({ length: 90 }, () => send('/api/posts', post, accessToken)))
      const ended = waitForExit(api)
      api.stdout!.resume()
      api.kill('SIGTERM')
      expect((await ended).code).toBe(0)
      const posts = await Promise.all(created.map(({ data }) => context.posts.find(data.postId)))
      expect(posts.map((found) => found!.startPending)).toEqual(created.map(() => false))
    } finally {
      await context.close()
    }
  })

  it('a worker drains and exits with 0 on SIGTERM', async () => {
    const worker = start('src/worker.ts')
    const line = await waitForLogEntry(worker, 'worker ready')
    expect(line).toMatchObject({
      queues: ['publishing', 'preparing', 'notifying', 'billing', 'analytics', 'webhooks', 'maintenance'],
    })
    const ended = waitForExit(worker)
    worker.stdout!.resume()
    worker.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })
})
