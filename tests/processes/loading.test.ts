import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** Heavy packages that only a process that delivers needs. */
const OF_DELIVERIES = ['@atproto/api', 'sharp', 'file-type', '@temporalio/worker', 'firebase-admin', 'openai']

/** Which of these packages a process has loaded after it ran `code`. */
async function loadedBy(code: string): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ load: (url, context, next) => { loaded.add(url); return next(url, context) } })
    ${code}
    process.stdout.write([...loaded].join('\\n'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    maxBuffer: 16 * 1024 * 1024,
  })
  return OF_DELIVERIES.filter((name) => stdout.includes(`/node_modules/${name}/`))
}

describe('a process loads', () => {
  it('for the API nothing that only deliveries need', async () => {
    expect(await loadedBy(`await import('./src/context.ts'); await import('./src/api/app.ts')`)).toEqual([])
  })

  it('for a worker all that preparing needs, before the first delivery', async () => {
    const warmUp = `
      const { createPlatformRegistry } = await import('./src/platforms/registry.ts')
      const url = 'http://localhost'
      await createPlatformRegistry({ bluesky: { entryUrl: url, accountHosts: [], videoUrl: url, appUrl: url } }).warmUp()`
    expect(await loadedBy(warmUp)).toEqual(expect.arrayContaining(['@atproto/api', 'sharp']))
  })
})
