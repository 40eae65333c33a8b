import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** Large packages that only deliveries need. */
const DELIVERY_PACKAGES = ['@atproto/api', 'sharp', 'file-type', 'mediabunny', '@temporalio/worker']
/** Large packages that only the API needs. */
const API_PACKAGES = ['fastify', 'socket.io', '@zxcvbn-ts/language-common']
/** Packages of optional services, loaded on first use. */
const OPTIONAL_PACKAGES = ['firebase-admin', 'openai', 'openid-client', 'nodemailer', 'stripe']

/** Runs `code` in a process and returns which of the packages it loaded. */
async function findLoaded(code: string, packages: string[]): Promise<string[]> {
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

describe('the modules of a process', () => {
  it('the API does not load modules that only deliveries need', async () => {
    const api = `await import('./src/context.ts'); await import('./src/api/app.ts')`
    expect(await findLoaded(api, [...DELIVERY_PACKAGES, ...OPTIONAL_PACKAGES])).toEqual([])
  })

  it('a worker does not load modules that only requests need', async () => {
    const worker = `await import('./src/context.ts'); await import('./src/worker/create-workers.ts')`
    expect(await findLoaded(worker, [...API_PACKAGES, ...OPTIONAL_PACKAGES])).toEqual([])
  })

  it('a worker loads the modules for preparing posts before the first delivery', async () => {
    const warmUp = `
      const { createPlatformRegistry } = await import('./src/platforms/registry.ts')
      const url = 'http://localhost'
      await createPlatformRegistry({ bluesky: { entryUrl: url, accountHosts: [], videoUrl: url, appUrl: url } }).warmUp()`
    expect(await findLoaded(warmUp, DELIVERY_PACKAGES)).toEqual(expect.arrayContaining(['@atproto/api', 'sharp']))
  })
})
