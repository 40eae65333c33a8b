import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** Heavy packages that only a process that delivers needs. */
const OF_DELIVERIES = ['@atproto/api', 'sharp', 'file-type', '@temporalio/worker']
/** Those that only the API needs. */
const OF_REQUESTS = ['fastify', 'socket.io', '@zxcvbn-ts/language-common']
/** Those that are needed where something is set up, and not before it is asked for. */
const OF_SERVICES = ['firebase-admin', 'openai', 'openid-client', 'nodemailer', 'stripe']

/** Which of these packages a process has loaded after it ran `code`. */
async function loadedBy(code: string, packages: string[]): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ load: (url, context, next) => { loaded.add(url); return next(url, context) } })
    ${code}
    process.stdout.write([...loaded].join('\\n'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    maxBuffer: 16 * 1024 * 1024,
  })
  return packages.filter((name) => stdout.includes(`/node_modules/${name}/`))
}

describe('a process loads', () => {
  it('the API does not load modules that only deliveries need', async () => {
    const api = `await import('./src/context.ts'); await import('./src/api/app.ts')`
    expect(await loadedBy(api, [...OF_DELIVERIES, ...OF_SERVICES])).toEqual([])
  })

  it('a worker does not load modules that only requests need', async () => {
    const worker = `await import('./src/context.ts'); await import('./src/worker/create-workers.ts')`
    expect(await loadedBy(worker, [...OF_REQUESTS, ...OF_SERVICES])).toEqual([])
  })

  it('a worker loads all modules for preparing before the first delivery', async () => {
    const warmUp = `
      const { createPlatformRegistry } = await import('./src/platforms/registry.ts')
      const url = 'http://localhost'
      await createPlatformRegistry({ bluesky: { entryUrl: url, accountHosts: [], videoUrl: url, appUrl: url } }).warmUp()`
    expect(await loadedBy(warmUp, OF_DELIVERIES)).toEqual(expect.arrayContaining(['@atproto/api', 'sharp']))
  })
})
